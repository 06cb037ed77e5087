//! The parts of timestamps and durations.

use jiff::Zoned;
use jiff::tz::TimeZone;

use super::arguments::Arguments;
use super::overload::{Overload, member};
use super::type_pattern::{DURATION, INT, STRING, TIMESTAMP};
use crate::cost::constant;
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Value};

/// Months, days of the month and days of the year count from zero, as the specification of CEL has
/// it.
pub(super) static OVERLOADS: &[Overload] = &[
    member("getFullYear", &[TIMESTAMP], INT).overload(
        "timestamp_to_year",
        |args, _| int(args.utc(0)?.year()),
        constant,
    ),
    member("getMonth", &[TIMESTAMP], INT).overload(
        "timestamp_to_month",
        |args, _| int(i64::from(args.utc(0)?.month()) - 1),
        constant,
    ),
    member("getDate", &[TIMESTAMP], INT).overload(
        "timestamp_to_day_of_month_1_based",
        |args, _| int(args.utc(0)?.day()),
        constant,
    ),
    member("getDayOfMonth", &[TIMESTAMP], INT).overload(
        "timestamp_to_day_of_month",
        |args, _| int(i64::from(args.utc(0)?.day()) - 1),
        constant,
    ),
    member("getDayOfWeek", &[TIMESTAMP], INT).overload(
        "timestamp_to_day_of_week",
        |args, _| int(args.utc(0)?.weekday().to_sunday_zero_offset()),
        constant,
    ),
    member("getDayOfYear", &[TIMESTAMP], INT).overload(
        "timestamp_to_day_of_year",
        |args, _| int(i64::from(args.utc(0)?.day_of_year()) - 1),
        constant,
    ),
    member("getHours", &[TIMESTAMP], INT).overload(
        "timestamp_to_hours",
        |args, _| int(args.utc(0)?.hour()),
        constant,
    ),
    member("getHours", &[DURATION], INT).overload(
        "duration_to_hours",
        |args, _| int(args.duration(0)?.as_hours()),
        constant,
    ),
    member("getMinutes", &[TIMESTAMP], INT).overload(
        "timestamp_to_minutes",
        |args, _| int(args.utc(0)?.minute()),
        constant,
    ),
    member("getMinutes", &[DURATION], INT).overload(
        "duration_to_minutes",
        |args, _| int(args.duration(0)?.as_mins()),
        constant,
    ),
    member("getSeconds", &[TIMESTAMP], INT).overload(
        "timestamp_to_seconds",
        |args, _| int(args.utc(0)?.second()),
        constant,
    ),
    member("getSeconds", &[DURATION], INT).overload(
        "duration_to_seconds",
        |args, _| int(args.duration(0)?.as_secs()),
        constant,
    ),
    member("getMilliseconds", &[TIMESTAMP], INT).overload(
        "timestamp_to_milliseconds",
        |args, _| int(args.utc(0)?.millisecond()),
        constant,
    ),
    member("getMilliseconds", &[DURATION], INT).overload(
        "duration_to_milliseconds",
        |args, _| int(args.duration(0)?.subsec_millis()),
        constant,
    ),
    // With a time zone.
    member("getFullYear", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_year_with_tz",
        "getFullYear() with a time zone",
    ),
    member("getMonth", &[TIMESTAMP, STRING], INT)
        .unsupported("timestamp_to_month_with_tz", "getMonth() with a time zone"),
    member("getDate", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_day_of_month_1_based_with_tz",
        "getDate() with a time zone",
    ),
    member("getDayOfMonth", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_day_of_month_with_tz",
        "getDayOfMonth() with a time zone",
    ),
    member("getDayOfWeek", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_day_of_week_with_tz",
        "getDayOfWeek() with a time zone",
    ),
    member("getDayOfYear", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_day_of_year_with_tz",
        "getDayOfYear() with a time zone",
    ),
    member("getHours", &[TIMESTAMP, STRING], INT)
        .unsupported("timestamp_to_hours_with_tz", "getHours() with a time zone"),
    member("getMinutes", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_minutes_with_tz",
        "getMinutes() with a time zone",
    ),
    member("getSeconds", &[TIMESTAMP, STRING], INT)
        .unsupported("timestamp_to_seconds_tz", "getSeconds() with a time zone"),
    member("getMilliseconds", &[TIMESTAMP, STRING], INT).unsupported(
        "timestamp_to_milliseconds_with_tz",
        "getMilliseconds() with a time zone",
    ),
];

impl Arguments<'_> {
    /// A timestamp in UTC.
    fn utc(self, index: usize) -> Result<Zoned, EvaluationError> {
        Ok(self.timestamp(index)?.to_zoned(TimeZone::UTC))
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "implementations of overloads return a result"
)]
fn int(number: impl Into<i64>) -> EvaluationResult {
    Ok(Value::Int(number.into()))
}
