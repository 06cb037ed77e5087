//! Fields that are a number or a percentage, such as `maxUnavailable`.

use serde_json::Value;

/// How a percentage that is not a whole number is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Up,
    Down,
}

/// The number, or the percentage of the total (`GetScaledValueFromIntOrPercent` of
/// apimachinery/pkg/util/intstr); `None` when the value is neither.
pub(crate) fn int_or_percent(value: &Value, total: i64, rounding: Rounding) -> Option<i64> {
    if let Some(number) = value.as_i64() {
        return Some(number);
    }
    let percent: i64 = value.as_str()?.strip_suffix('%')?.parse().ok()?;
    let product = percent.checked_mul(total)?;
    Some(match rounding {
        Rounding::Up => product.div_euclid(100) + i64::from(product.rem_euclid(100) != 0),
        Rounding::Down => product.div_euclid(100),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rounding, int_or_percent};

    #[test]
    fn percentage_is_rounded_up_or_down() {
        assert_eq!(int_or_percent(&json!(3), 10, Rounding::Up), Some(3));
        assert_eq!(int_or_percent(&json!("25%"), 10, Rounding::Up), Some(3));
        assert_eq!(int_or_percent(&json!("25%"), 10, Rounding::Down), Some(2));
        assert_eq!(int_or_percent(&json!("25%"), 0, Rounding::Up), Some(0));
        assert_eq!(int_or_percent(&json!("some"), 10, Rounding::Up), None);
    }
}
