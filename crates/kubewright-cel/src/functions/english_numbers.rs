//! Writes doubles as golang.org/x/text does in English: with a comma after each thousand, and with
//! exponents as superscripts.

/// Go's parser of formats reads no precision whose first digits exceed this.
const MAX_PRECISION: u64 = 1_000_000;
/// What Go writes for a clause that it cannot parse.
const NO_VERB: &str = "%!(NOVERB)";
/// No double has more digits after the decimal point.
const MAX_FRACTION_DIGITS: usize = 1074;

/// Writes a double with a decimal point. golang.org/x/text has the maximum of digits after the
/// point in 16 bits with a sign, where a negative number removes the limit, and the minimum in 8
/// bits.
pub(super) fn fixed_point(number: f64, precision: u64) -> String {
    if precision / 10 > MAX_PRECISION {
        return NO_VERB.to_owned();
    }
    if let Some(text) = special(number) {
        return text.to_owned();
    }
    let [low, high, ..] = precision.to_le_bytes();
    let (min, max) = (usize::from(low), i16::from_le_bytes([low, high]));
    let size = number.abs();
    let digits = match usize::try_from(max) {
        Ok(max) => {
            let max = max.min(MAX_FRACTION_DIGITS);
            format!("{size:.max$}")
        }
        // Without a maximum, as few digits as identify the number.
        Err(_) => size.to_string(),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let trimmed = fraction.trim_end_matches('0');
    let sign = if number < 0.0 { "-" } else { "" };
    match trimmed.len().max(min) {
        0 => format!("{sign}{}", with_commas(whole)),
        length => format!("{sign}{}.{trimmed:0<length$}", with_commas(whole)),
    }
}

/// Writes a double with an exponent, always with six digits after the point. The precision of the
/// clause is the minimum width, of which golang.org/x/text keeps 16 bits.
pub(super) fn scientific(number: f64, precision: u64) -> String {
    if precision / 10 > MAX_PRECISION {
        return NO_VERB.to_owned();
    }
    let text = match special(number) {
        Some(text) => text.to_owned(),
        None => {
            let text = format!("{:.6e}", number.abs());
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let sign = if number < 0.0 { "-" } else { "" };
            format!("{sign}{digits}×10{}", superscript(exponent))
        }
    };
    let width = usize::try_from(precision & 0xffff).unwrap_or_default();
    let padding = width.saturating_sub(text.chars().count());
    format!("{}{text}", " ".repeat(padding))
}

/// The text of NaN and of the infinities.
fn special(number: f64) -> Option<&'static str> {
    match number {
        number if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

/// Digits with a comma after each thousand.
fn with_commas(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An exponent of at least two digits.
fn superscript(exponent: &str) -> String {
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ("⁻", digits),
        None => ("", exponent),
    };
    let raised = |digit: char| match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    let padded = format!("{digits:0>2}");
    sign.chars().chain(padded.chars().map(raised)).collect()
}
