//! Quantities as Kubernetes writes them: `500m`, `1Gi`, `1e3`.

use std::cmp::Ordering;
use std::fmt;

/// The canonical text of a quantity, as Kubernetes returns it; `None` for an invalid quantity.
///
/// ```
/// use kubewright_core::canonical_quantity;
///
/// let written = ["0.5", "1024Mi", "1.5Gi", "0.1Gi", "1000m", "1000k", "0.0001", "1e3"];
/// let canonical = written.map(|text| canonical_quantity(text).unwrap_or_default());
/// assert_eq!(canonical, ["500m", "1Gi", "1536Mi", "107374182400m", "1", "1M", "100u", "1e3"]);
/// ```
pub fn canonical_quantity(text: &str) -> Option<String> {
    Quantity::parse(text).map(|quantity| quantity.to_string())
}

/// A number with the family of suffixes that it was written in.
///
/// ```
/// use kubewright_core::Quantity;
///
/// let sum = Quantity::parse("1500m").zip(Quantity::parse("0.5"));
/// assert_eq!(sum.map(|(a, b)| a.plus(b).to_string()).as_deref(), Some("2"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

impl Quantity {
    /// Parses a quantity; `None` when the text is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let format = Format::parse(suffix)?;
        // Kubernetes has nine digits after the decimal point, and rounds away from zero.
        let nanos = i128::try_from(to_nanos(whole, fraction, &format)?).ok()?;
        Some(Self {
            nanos: if negative { -nanos } else { nanos },
            format,
        })
    }

    /// Zero.
    pub fn zero() -> Self {
        Self {
            nanos: 0,
            format: Format::Decimal(0),
        }
    }

    /// The sum, in the suffixes of `self`, or of `other` when `self` is zero.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let format = match self.nanos {
            0 => other.format,
            _ => self.format,
        };
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
            format,
        }
    }

    /// The difference, in the suffixes of `self`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_sub(other.nanos),
            format: self.format,
        }
    }

    /// Compares the amounts, whatever their suffixes.
    pub fn cmp_amount(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }

    /// Whether it is less than zero.
    pub fn is_negative(&self) -> bool {
        self.nanos < 0
    }

    /// Whether it is zero.
    pub fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    /// Whether it is an integer.
    pub fn is_whole(&self) -> bool {
        self.nanos % WHOLE == 0
    }

    /// The integer, when it is one and fits.
    pub fn whole(&self) -> Option<i64> {
        let whole = i64::try_from(self.nanos / WHOLE).ok();
        whole.filter(|_| self.is_whole())
    }

    /// The quotient of the two amounts.
    pub fn ratio(&self, other: &Self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "Kubernetes compares ratios as floating point numbers too"
        )]
        let ratio = self.nanos as f64 / other.nanos as f64;
        ratio
    }

    /// Rounds up to a multiple of a thousandth.
    #[must_use]
    pub fn round_up_to_milli(self) -> Self {
        let rest = self.nanos.rem_euclid(MILLI);
        let up = if rest == 0 { 0 } else { MILLI - rest };
        Self {
            nanos: self.nanos.saturating_add(up),
            ..self
        }
    }
}

/// Writes the canonical text.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print(
            self.nanos < 0,
            self.nanos.unsigned_abs(),
            &self.format,
        ))
    }
}

/// The family of suffixes a quantity is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `Ki`, `Mi`, ...: the power of 1024.
    Binary(u32),
    /// `m`, none, `k`, ...: the power of 10.
    Decimal(i32),
    /// `e3`: the power of 10.
    Exponent(i32),
}

const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const NANO: u128 = 1_000_000_000;
const WHOLE: i128 = 1_000_000_000;
const MILLI: i128 = 1_000_000;

impl Format {
    fn parse(suffix: &str) -> Option<Self> {
        if let Some(power) = BINARY.iter().position(|known| *known == suffix) {
            return Some(Self::Binary(u32::try_from(power).ok()? + 1));
        }
        if let Some((_, power)) = DECIMAL.iter().find(|(known, _)| *known == suffix) {
            return Some(Self::Decimal(*power));
        }
        let exponent = suffix.strip_prefix(['e', 'E'])?;
        let power: i32 = exponent.parse().ok()?;
        (-30..=30).contains(&power).then_some(Self::Exponent(power))
    }
}

fn to_nanos(whole: &str, fraction: &str, format: &Format) -> Option<u128> {
    let digits: String = format!("{whole}{fraction}");
    let mantissa: u128 = digits
        .trim_start_matches('0')
        .parse()
        .or_else(|_| {
            let is_zero = digits.chars().all(|c| c == '0');
            is_zero.then_some(0).ok_or(())
        })
        .ok()?;
    let behind_point = i32::try_from(fraction.len()).ok()?;
    let (binary, decimal) = match format {
        Format::Binary(power) => (1024_u128.checked_pow(*power)?, 0),
        Format::Decimal(power) | Format::Exponent(power) => (1, *power),
    };
    let scaled = mantissa.checked_mul(binary)?;
    let shift = decimal - behind_point + 9;
    if shift >= 0 {
        return scaled.checked_mul(10_u128.checked_pow(u32::try_from(shift).ok()?)?);
    }
    let divisor = 10_u128.checked_pow(u32::try_from(-shift).ok()?)?;
    Some(scaled.div_ceil(divisor))
}

fn print(negative: bool, nanos: u128, format: &Format) -> String {
    let sign = if negative { "-" } else { "" };
    if nanos == 0 {
        return "0".to_owned();
    }
    if let Format::Binary(_) = format
        && nanos.is_multiple_of(NANO)
        && nanos >= 1024 * NANO
    {
        let mut amount = nanos / NANO;
        let mut suffix = "";
        for name in BINARY {
            if !amount.is_multiple_of(1024) {
                break;
            }
            amount /= 1024;
            suffix = name;
        }
        return format!("{sign}{amount}{suffix}");
    }
    let (mut amount, mut power) = (nanos, -9);
    while power < 18 && amount.is_multiple_of(1000) {
        amount /= 1000;
        power += 3;
    }
    let suffix = match format {
        Format::Exponent(_) if power == 0 => String::new(),
        Format::Exponent(_) => format!("e{power}"),
        Format::Binary(_) | Format::Decimal(_) => DECIMAL
            .iter()
            .find(|(_, known)| *known == power)
            .map(|(name, _)| (*name).to_owned())
            .unwrap_or_default(),
    };
    format!("{sign}{amount}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::{Quantity, canonical_quantity};

    #[test]
    fn amounts_are_added_compared_and_rounded_up() {
        let amount = |text: &str| Quantity::parse(text).unwrap();
        assert_eq!(amount("1Gi").plus(amount("1Gi")).to_string(), "2Gi");
        assert_eq!(amount("0").plus(amount("1Gi")).to_string(), "1Gi");
        assert_eq!(amount("1").minus(amount("1500m")).to_string(), "-500m");
        assert!(amount("1024").cmp_amount(&amount("1Ki")).is_eq());
        assert_eq!(amount("100u").round_up_to_milli().to_string(), "1m");
        assert!(amount("1").is_whole() && !amount("1500m").is_whole());
    }

    #[test]
    fn invalid_quantities_are_rejected() {
        for text in ["", "a", "1x", "1.2.3", "1e", "--1", "1 ", "1KiB"] {
            assert_eq!(canonical_quantity(text), None, "{text:?}");
        }
    }

    #[test]
    fn amounts_are_written_with_the_largest_suffix_that_fits() {
        let cases = [
            ("0", "0"),
            ("-0.5", "-500m"),
            ("100m", "100m"),
            ("2000m", "2"),
            ("1.5", "1500m"),
            ("1Ki", "1Ki"),
            ("512", "512"),
            ("1000Ki", "1000Ki"),
            ("0.5Ki", "512"),
            ("12e6", "12e6"),
            ("1.5e3", "1500"),
            ("0.0000000001", "1n"),
        ];
        for (text, expected) in cases {
            assert_eq!(
                canonical_quantity(text).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }
}
