//! The format of times in a JSON log.

use clap::ValueEnum;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The format of times in a JSON log, with the names of `--zap-time-encoding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::operator) enum TimeFormat {
    /// Seconds since 1970, with a fraction.
    Epoch,
    /// Milliseconds since 1970, with a fraction.
    Millis,
    /// Nanoseconds since 1970.
    Nano,
    /// `2026-01-01T00:00:00.000Z`.
    Iso8601,
    /// `2026-01-01T00:00:00Z`.
    #[default]
    Rfc3339,
    /// `2026-01-01T00:00:00.000000001Z`.
    Rfc3339nano,
}

impl TimeFormat {
    pub(super) fn write(self, time: Timestamp) -> Value {
        let text = |format| json!(time.strftime(format).to_string());
        match self {
            Self::Epoch => json!(time.as_duration().as_secs_f64()),
            Self::Millis => json!(time.as_duration().as_secs_f64() * 1e3),
            Self::Nano => {
                // 64 bits last until the year 2262.
                json!(i64::try_from(time.as_nanosecond()).unwrap_or(i64::MAX))
            }
            Self::Iso8601 => text("%Y-%m-%dT%H:%M:%S.%3fZ"),
            Self::Rfc3339 => text("%Y-%m-%dT%H:%M:%SZ"),
            Self::Rfc3339nano => text("%Y-%m-%dT%H:%M:%S%.fZ"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::TimeFormat;

    #[test]
    fn times_have_the_formats_of_zap() {
        let time = "2026-01-02T03:04:05.5Z".parse().unwrap();
        let written = [
            (TimeFormat::Epoch, json!(1_767_323_045.5)),
            (TimeFormat::Millis, json!(1_767_323_045_500.0)),
            (TimeFormat::Nano, json!(1_767_323_045_500_000_000_i64)),
            (TimeFormat::Iso8601, json!("2026-01-02T03:04:05.500Z")),
            (TimeFormat::Rfc3339, json!("2026-01-02T03:04:05Z")),
            (TimeFormat::Rfc3339nano, json!("2026-01-02T03:04:05.5Z")),
        ];
        for (format, expected) in written {
            assert_eq!(format.write(time), expected, "{format:?}");
        }
    }
}
