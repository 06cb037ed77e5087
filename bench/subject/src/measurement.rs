//! The lines that subjects of the benchmark `cache` print.

use std::io::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::error::Error;
use crate::metric::Metric;

/// A line on the standard output of a subject: `{"metric":"seconds","value":1.29}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The metric.
    pub metric: Metric,
    /// The measured value. Counts and checksums are integers.
    pub value: Number,
}

impl Measurement {
    /// Creates the measurement of a cost.
    pub fn cost(metric: Metric, value: f64) -> Result<Self, Error> {
        let number = Number::from_f64(value).ok_or(Error::NotFinite { metric, value })?;
        Ok(Self {
            metric,
            value: number,
        })
    }

    /// Creates the measurement of a count or a checksum.
    pub fn count(metric: Metric, value: u64) -> Self {
        Self {
            metric,
            value: value.into(),
        }
    }

    /// Prints the measurement as a line of JSON.
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
    use super::Measurement;
    use crate::metric::Metric;

    #[test]
    fn measurement_is_one_line_of_json() {
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
}
