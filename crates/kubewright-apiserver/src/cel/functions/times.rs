use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};

use crate::cel::evaluate::Evaluated;
use crate::cel::value::Value;

pub(super) fn call(name: &str, args: &[Value]) -> Option<Evaluated> {
    let number = match args {
        [Value::Timestamp(time)] => of_time(name, &time.to_zoned(TimeZone::UTC))?,
        [Value::Duration(duration)] => of_duration(name, duration)?,
        _ => return None,
    };
    Some(Ok(Value::Int(number)))
}

/// Months and days of the month and the year count from zero, as in the language's definition.
fn of_time(name: &str, time: &Zoned) -> Option<i64> {
    Some(match name {
        "getFullYear" => i64::from(time.year()),
        "getMonth" => i64::from(time.month()) - 1,
        "getDate" => i64::from(time.day()),
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDayOfWeek" => i64::from(time.weekday().to_sunday_zero_offset()),
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getHours" => i64::from(time.hour()),
        "getMinutes" => i64::from(time.minute()),
        "getSeconds" => i64::from(time.second()),
        "getMilliseconds" => i64::from(time.millisecond()),
        _ => return None,
    })
}

fn of_duration(name: &str, duration: &SignedDuration) -> Option<i64> {
    Some(match name {
        "getHours" => duration.as_hours(),
        "getMinutes" => duration.as_mins(),
        "getSeconds" => duration.as_secs(),
        "getMilliseconds" => i64::from(duration.subsec_millis()),
        _ => return None,
    })
}

/// A point in time as RFC 3339 writes it.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    text.contains('T').then(|| text.parse().ok())?
}

/// A day, at its beginning.
pub(crate) fn parse_date(text: &str) -> Option<Timestamp> {
    let date: Date = text.parse().ok()?;
    let start = date.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp())
}

/// A length of time as Go's `time.ParseDuration` reads it, such as `1h30m`.
pub(crate) fn parse_duration(text: &str) -> Option<SignedDuration> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = (rest.get(..end)?, rest.get(end..)?);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let unit = match after.get(..unit_end)? {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        nanos = nanos.checked_add(amount(number, unit)?)?;
        rest = after.get(unit_end..)?;
    }
    let nanos = i64::try_from(sign * nanos).ok()?;
    Some(SignedDuration::from_nanos(nanos))
}

/// A number with a fraction, in units of that many nanoseconds.
fn amount(number: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = |text: &str| match text.is_empty() {
        true => Some(0),
        false => text.parse::<i128>().ok(),
    };
    let fraction = fraction.get(..fraction.len().min(18))?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let whole = digits(whole)?.checked_mul(unit)?;
    whole.checked_add(digits(fraction)?.checked_mul(unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn lengths_of_time_are_read_as_go_reads_them() {
        let millis = |text: &str| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(millis("1h30m"), Some(5_400_000));
        assert_eq!(millis("-1.5s"), Some(-1500));
        assert_eq!(millis(".5s"), Some(500));
        assert_eq!(millis("0"), Some(0));
        for wrong in ["", "1", "1x", "h", "1h 2m", "."] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }
}
