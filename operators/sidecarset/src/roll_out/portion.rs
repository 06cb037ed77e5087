//! A number or a percentage of Pods.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A number or a percentage of Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    Number(usize),
    Percent(usize),
}

impl Portion {
    /// Parses a field, and returns none if it is invalid.
    pub(crate) fn parse(value: &IntOrString) -> Option<Self> {
        match value {
            IntOrString::Int(number) => usize::try_from(*number).ok().map(Self::Number),
            IntOrString::String(text) => {
                let digits = text.strip_suffix('%')?;
                // `parse` alone would accept a sign.
                let is_plain = digits.chars().all(|c| c.is_ascii_digit());
                let percent = is_plain.then(|| digits.parse().ok())??;
                Some(Self::Percent(percent))
            }
        }
    }

    /// Returns the number of Pods out of a total, rounded up.
    pub(crate) fn of(self, total: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => (percent * total).div_ceil(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

    use super::Portion;

    #[test]
    fn percentages_are_rounded_up() {
        let text = |text: &str| IntOrString::String(text.to_owned());
        for (value, total, expected) in [
            (IntOrString::Int(3), 10, Some(3)),
            (IntOrString::Int(-1), 10, None),
            (text("25%"), 10, Some(3)),
            (text("0%"), 10, Some(0)),
            (text("100%"), 10, Some(10)),
            (text("1%"), 0, Some(0)),
            (text("3"), 10, None),
            (text("+3%"), 10, None),
            (text("x%"), 10, None),
        ] {
            let number = Portion::parse(&value).map(|portion| portion.of(total));
            assert_eq!(number, expected, "{value:?} of {total}");
        }
    }
}
