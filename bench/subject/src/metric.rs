use std::fmt;
use std::io::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::Error;

/// What is measured, in the order of the table's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Process start until a reconciler has read each object whole once.
    Seconds,
    /// The most memory held until the cache settled, in millions of bytes.
    PeakMb,
    /// Memory held after the cache settled, and again after the reads; the larger counts.
    SettledMb,
    /// One cached read of an object not read lately.
    GetColdUs,
    /// One cached read of an object read a moment ago.
    GetHotUs,
    /// Every object typed, seven fields read, dropped.
    ListMs,
    /// One lookup by an index that finds one object.
    IndexGetUs,
    /// Memory for each further object: what settled memory grows by from one size to the next.
    BytesPerObject,
    /// How many objects the list held.
    Objects,
    /// The sum over the seven fields of all of them.
    Checksum,
}

impl Metric {
    /// All, in the order of the table's columns.
    pub const ALL: [Self; 10] = [
        Self::Seconds,
        Self::PeakMb,
        Self::SettledMb,
        Self::GetColdUs,
        Self::GetHotUs,
        Self::ListMs,
        Self::IndexGetUs,
        Self::BytesPerObject,
        Self::Objects,
        Self::Checksum,
    ];

    /// Whether subjects are compared by it; the others must be equal.
    pub const fn is_cost(self) -> bool {
        !matches!(self, Self::Objects | Self::Checksum)
    }

    /// Whether every subject measures it.
    pub const fn is_common(self) -> bool {
        !matches!(self, Self::IndexGetUs | Self::BytesPerObject)
    }

    /// The spelling on the wire and in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::PeakMb => "peak_mb",
            Self::SettledMb => "settled_mb",
            Self::GetColdUs => "get_cold_us",
            Self::GetHotUs => "get_hot_us",
            Self::ListMs => "list_ms",
            Self::IndexGetUs => "index_get_us",
            Self::BytesPerObject => "bytes_per_object",
            Self::Objects => "objects",
            Self::Checksum => "checksum",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One line on a subject's standard output: `{"metric":"seconds","value":1.29}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub metric: Metric,
    /// What came out; counts and checksums are whole numbers.
    pub value: Number,
}

impl Measurement {
    /// A measured cost.
    pub fn cost(metric: Metric, value: f64) -> Result<Self, Error> {
        let number = Number::from_f64(value).ok_or(Error::NotFinite { metric, value })?;
        Ok(Self {
            metric,
            value: number,
        })
    }

    /// A count or a checksum.
    pub fn count(metric: Metric, value: u64) -> Self {
        Self {
            metric,
            value: value.into(),
        }
    }

    /// Prints the line.
    pub fn print(&self) -> Result<(), Error> {
        let line = serde_json::to_string(self).map_err(std::io::Error::from);
        line.and_then(|line| writeln!(std::io::stdout(), "{line}"))
            .map_err(|source| Error::Print {
                metric: self.metric,
                source,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::{Measurement, Metric};

    #[test]
    fn a_measurement_is_one_line_of_json() {
        let line = |measurement: &Measurement| serde_json::to_string(measurement).unwrap();
        assert_eq!(
            line(&Measurement::cost(Metric::GetColdUs, 27.5).unwrap()),
            r#"{"metric":"get_cold_us","value":27.5}"#
        );
        assert_eq!(
            line(&Measurement::count(Metric::Checksum, (1 << 53) - 1)),
            r#"{"metric":"checksum","value":9007199254740991}"#
        );
        assert!(Measurement::cost(Metric::Seconds, f64::NAN).is_err());
    }

    #[test]
    fn names_in_the_table_are_those_on_the_wire() {
        for metric in Metric::ALL {
            assert_eq!(
                serde_json::to_string(&metric).unwrap(),
                format!("\"{metric}\"")
            );
        }
    }
}
