//! The formats of strings.

use std::net::IpAddr;

use base64::Engine as _;

use kubewright_cel::{parse_date, parse_duration, parse_timestamp};

/// Whether a string has the format of its schema (k8s.io/kube-openapi/pkg/validation/strfmt). Unknown
/// formats accept any string.
pub(super) fn has_format(text: &str, format: &str) -> bool {
    let address = || text.parse::<IpAddr>().ok();
    match format {
        "date" => text.len() == 10 && parse_date(text).is_some(),
        "date-time" | "datetime" => parse_timestamp(text).is_some(),
        "duration" => parse_duration(text).is_some() || is_spelled_duration(text),
        "ipv4" => address().is_some_and(|address| address.is_ipv4()),
        "ipv6" => address().is_some_and(|address| address.is_ipv6()),
        "cidr" => text.split_once('/').is_some_and(|(address, length)| {
            let address: Option<IpAddr> = address.parse().ok();
            let most = address.map(|address| if address.is_ipv4() { 32 } else { 128 });
            let length: Option<u8> = length.parse().ok();
            matches!((length, most), (Some(length), Some(most)) if length <= most)
        }),
        "uuid" => is_uuid(text),
        "byte" => {
            let engine = base64::engine::general_purpose::STANDARD;
            !text.is_empty() && engine.decode(text).is_ok()
        }
        _ => true,
    }
}

/// Durations such as `3 days` or `1 h`, which the library accepts besides those of Go.
fn is_spelled_duration(text: &str) -> bool {
    const UNITS: [&str; 22] = [
        "ns",
        "nano",
        "nanosecond",
        "us",
        "µs",
        "micro",
        "microsecond",
        "ms",
        "milli",
        "millisecond",
        "s",
        "sec",
        "second",
        "m",
        "min",
        "minute",
        "h",
        "hr",
        "hour",
        "d",
        "day",
        "w",
    ];
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let unit = text.get(end..).unwrap_or_default().trim_start();
    let singular = unit.strip_suffix('s').unwrap_or(unit);
    end > 0
        && (UNITS.contains(&unit) || UNITS.contains(&singular) || matches!(singular, "wk" | "week"))
}

fn is_uuid(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    digits.len() == 32
        && digits.iter().all(u8::is_ascii_hexdigit)
        && matches!(lengths.as_slice(), [32] | [8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests {
    use super::has_format;

    #[test]
    fn strings_have_the_format_of_their_schema() {
        for (format, right, wrong) in [
            ("date", "2024-02-29", "2024-02-30"),
            ("date-time", "2024-02-29T10:00:00Z", "2024-02-29"),
            ("duration", "1h30m", "soon"),
            ("duration", "3 days", "3 moons"),
            ("ipv4", "10.0.0.1", "::1"),
            ("ipv6", "::1", "10.0.0.1"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
            ("byte", "aGk=", "?"),
        ] {
            assert!(has_format(right, format), "{format}: {right}");
            assert!(!has_format(wrong, format), "{format}: {wrong}");
        }
        assert!(has_format("anything", "of-my-own"));
    }
}
