//! YAML 1.1 scalars.

use serde_json::{Number, Value};

/// A tag that determines the type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarTag {
    Bool,
    Int,
    Float,
    Null,
    Text,
}

/// The value of an unquoted scalar, as Kubernetes' YAML library resolves it
/// (go.yaml.in/yaml/v2/resolve.go): YAML 1.1 booleans and octals, no base 60, and timestamps as
/// text.
pub(super) fn resolve(text: &str) -> Value {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        _ => {}
    }
    let plausible = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'));
    let number = plausible.then(|| resolve_number(text)).flatten();
    number.map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// The value of a scalar with an explicit tag; `None` when the text does not match the tag.
pub(super) fn resolve_tagged(text: &str, tag: ScalarTag) -> Option<Value> {
    let resolved = resolve(text);
    match (tag, &resolved) {
        (ScalarTag::Text, _) => Some(Value::String(text.to_owned())),
        (ScalarTag::Bool, Value::Bool(_)) | (ScalarTag::Null, Value::Null) => Some(resolved),
        (ScalarTag::Int, Value::Number(number)) if !number.is_f64() => Some(resolved),
        (ScalarTag::Float, Value::Number(number)) => number
            .as_f64()
            .and_then(Number::from_f64)
            .map(Value::Number),
        _ => None,
    }
}

fn resolve_number(text: &str) -> Option<Number> {
    let plain = text.replace('_', "");
    if text.starts_with('.') {
        return float(&plain);
    }
    integer(&plain).or_else(|| float(&plain))
}

/// `strconv.ParseInt(text, 0, 64)`, then the unsigned one.
fn integer(text: &str) -> Option<Number> {
    let (is_negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, text.strip_prefix('-')?),
        b'+' => (false, text.strip_prefix('+')?),
        _ => (false, text),
    };
    let (radix, digits) = radix_of(unsigned);
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = u128::from_str_radix(digits, radix).ok()?;
    let signed = i128::try_from(magnitude).ok()?;
    let value = if is_negative { -signed } else { signed };
    match i64::try_from(value) {
        Ok(value) => Some(value.into()),
        // Go does not parse a number with a sign as unsigned.
        Err(_) if text.starts_with('+') => None,
        Err(_) => u64::try_from(value).ok().map(Number::from),
    }
}

fn radix_of(digits: &str) -> (u32, &str) {
    let lower = digits.to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if lower.starts_with(prefix) {
            return (radix, digits.get(prefix.len()..).unwrap_or_default());
        }
    }
    match digits.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => (8, octal),
        _ => (10, digits),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; JSON has no infinities and no NaN.
fn float(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    if !has_digits || !digits(whole) || !digits(fraction) {
        return None;
    }
    if let Some(signed) = exponent {
        let magnitude = signed.strip_prefix(['-', '+']).unwrap_or(signed);
        if magnitude.is_empty() || !digits(magnitude) {
            return None;
        }
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::resolve;

    #[test]
    fn scalars_are_resolved_as_in_yaml_1_1() {
        let cases: [(&str, Value); 24] = [
            ("y", json!(true)),
            ("Yes", json!(true)),
            ("on", json!(true)),
            ("no", json!(false)),
            ("OFF", json!(false)),
            ("oN", json!("oN")),
            ("~", json!(null)),
            ("", json!(null)),
            ("12", json!(12)),
            ("-0x1F", json!(-31)),
            ("0777", json!(511)),
            ("0o17", json!(15)),
            ("0b101", json!(5)),
            ("1_000", json!(1000)),
            ("089", json!(89.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1.50", json!(1.5)),
            (".5", json!(0.5)),
            ("1e3", json!(1000.0)),
            ("1.2.3", json!("1.2.3")),
            ("12:30:45", json!("12:30:45")),
            ("2026-01-02", json!("2026-01-02")),
            ("0x", json!("0x")),
            ("-", json!("-")),
        ];
        for (text, expected) in cases {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }
}
