//! The metrics of the benchmark `cache`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A metric, in the order of the columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Seconds from the process start until a reconciler has read every object once, all fields.
    Seconds,
    /// Peak memory until the cache has settled, in millions of bytes.
    PeakMb,
    /// Memory after the cache has settled or after the reads, whichever is larger.
    SettledMb,
    /// A cached read of an object that was not read recently.
    GetColdUs,
    /// A cached read of an object that was read recently.
    GetHotUs,
    /// A list of all objects, typed: seven fields of each are read.
    ListMs,
    /// A lookup by an index that finds one object.
    IndexGetUs,
    /// Memory per additional object: the growth of the settled memory from one size to the next.
    BytesPerObject,
    /// The number of objects in the list.
    Objects,
    /// The sum of the checksums of all objects.
    Checksum,
}

impl Metric {
    /// All metrics, in the order of the columns of the table.
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

    /// Whether the metric is a cost. Metrics that are no costs must be equal for all subjects.
    pub const fn is_cost(self) -> bool {
        !matches!(self, Self::Objects | Self::Checksum)
    }

    /// Whether every subject measures the metric.
    pub const fn is_common(self) -> bool {
        !matches!(self, Self::IndexGetUs | Self::BytesPerObject)
    }

    /// Returns the name in JSON and in the table.
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

#[cfg(test)]
mod tests {
    use super::Metric;

    #[test]
    fn metric_has_the_same_name_in_the_table_and_in_json() {
        for metric in Metric::ALL {
            assert_eq!(
                serde_json::to_string(&metric).unwrap(),
                format!("\"{metric}\"")
            );
        }
    }
}
