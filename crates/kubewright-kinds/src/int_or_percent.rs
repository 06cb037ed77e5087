//! Fields that are a number or a percentage.

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// `ValidatePositiveIntOrPercent`.
pub(crate) fn validate_int_or_percent(at: FieldPath<'_>, errors: &mut ErrorList) {
    const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending \
         '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
    match at.value().as_str() {
        Some(text) => {
            let digits = text.strip_suffix('%').unwrap_or_default();
            if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
                errors.invalid(at, PERCENT);
            }
        }
        None => errors.non_negative(at),
    }
}

/// `IsNotMoreThan100Percent`.
pub(crate) fn exceeds_100_percent(at: FieldPath<'_>) -> bool {
    at.value().is_string() && int_or_percent(at) > 100
}

/// The number, or that of the percentage.
pub(crate) fn int_or_percent(at: FieldPath<'_>) -> i64 {
    match at.value().as_str() {
        Some(text) => text
            .strip_suffix('%')
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0),
        None => at.number().unwrap_or(0),
    }
}
