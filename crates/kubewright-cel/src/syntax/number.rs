//! Integer literals.

/// Parses an `int` in decimal or, after `0x`, in hexadecimal digits.
pub(super) fn parse_int(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16).ok(),
        None => text.parse().ok(),
    }
}

/// Parses a `uint` in decimal or, after `0x`, in hexadecimal digits.
pub(super) fn parse_uint(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}
