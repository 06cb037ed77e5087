use serde_json::Value;

/// Which way a share that is no whole number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Up,
    Down,
}

/// A number, or a percentage of the total (`GetScaledValueFromIntOrPercent`); none when it is
/// neither.
pub(super) fn portion(written: &Value, total: i64, rounding: Rounding) -> Option<i64> {
    if let Some(number) = written.as_i64() {
        return Some(number);
    }
    let percent: i64 = written.as_str()?.strip_suffix('%')?.parse().ok()?;
    let product = percent.checked_mul(total)?;
    Some(match rounding {
        Rounding::Up => product.div_euclid(100) + i64::from(product.rem_euclid(100) != 0),
        Rounding::Down => product.div_euclid(100),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rounding, portion};

    #[test]
    fn a_percentage_is_rounded_as_asked() {
        assert_eq!(portion(&json!(3), 10, Rounding::Up), Some(3));
        assert_eq!(portion(&json!("25%"), 10, Rounding::Up), Some(3));
        assert_eq!(portion(&json!("25%"), 10, Rounding::Down), Some(2));
        assert_eq!(portion(&json!("25%"), 0, Rounding::Up), Some(0));
        assert_eq!(portion(&json!("some"), 10, Rounding::Up), None);
    }
}
