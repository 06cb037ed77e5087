//! Converts values to strings, as `string(..)` returns them and as errors show them.

use super::value::Value;

impl Value {
    /// The value as a string, or `None` if its type has no conversion to `string`.
    pub(crate) fn to_text(&self) -> Option<String> {
        Some(match self {
            Self::String(text) => text.to_string(),
            Self::Bool(value) => value.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Uint(number) => number.to_string(),
            Self::Double(number) => go_float(*number),
            Self::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
            Self::Timestamp(time) => time.to_string(),
            Self::Duration(duration) => format!("{}s", duration.as_secs_f64()),
            Self::Ip(address) => address.to_string(),
            Self::Cidr(cidr) => cidr.to_string(),
            _ => return None,
        })
    }

    /// The value as errors show it: the name of the type if it has no conversion to `string`.
    pub(crate) fn shown(&self) -> String {
        self.to_text()
            .unwrap_or_else(|| self.type_name().to_owned())
    }
}

/// A float as Go's `%g` writes it.
fn go_float(number: f64) -> String {
    let size = number.abs();
    if number == 0.0 || !number.is_finite() || (1e-4..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, exponent_digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent_digits:0>2}")
}
