//! Parses timestamps, dates and durations.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Parses a timestamp in the format of RFC 3339.
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    text.contains('T').then(|| text.parse().ok())?
}

/// Parses a date. Returns the start of that day in UTC.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    let date: Date = text.parse().ok()?;
    let start = date.to_zoned(TimeZone::UTC).ok()?;
    Some(start.timestamp())
}

/// Parses a duration as Go's `time.ParseDuration` does, such as `1h30m`.
pub fn parse_duration(text: &str) -> Option<SignedDuration> {
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
        nanos = nanos.checked_add(to_nanos(number, unit)?)?;
        rest = after.get(unit_end..)?;
    }
    let signed = i64::try_from(sign * nanos).ok()?;
    Some(SignedDuration::from_nanos(signed))
}

/// A decimal number of units as nanoseconds; `unit` is the nanoseconds of one unit.
fn to_nanos(number: &str, unit: i128) -> Option<i128> {
    /// Digits beyond these are less than a nanosecond of the largest unit.
    const MAX_FRACTION_DIGITS: usize = 18;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let parse = |digits: &str| {
        if digits.is_empty() {
            Some(0)
        } else {
            digits.parse::<i128>().ok()
        }
    };
    let fraction_digits = fraction.get(..fraction.len().min(MAX_FRACTION_DIGITS))?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction_digits.len()).ok()?)?;
    let whole_nanos = parse(whole)?.checked_mul(unit)?;
    whole_nanos.checked_add(parse(fraction_digits)?.checked_mul(unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_are_parsed_as_go_parses_them() {
        let millis = |text: &str| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(millis("1h30m"), Some(5_400_000));
        assert_eq!(millis("-1.5s"), Some(-1500));
        assert_eq!(millis(".5s"), Some(500));
        assert_eq!(millis("0"), Some(0));
        for invalid in ["", "1", "1x", "h", "1h 2m", "."] {
            assert_eq!(millis(invalid), None, "{invalid}");
        }
    }
}
