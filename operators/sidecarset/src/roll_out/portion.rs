use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// A number, or a percentage of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    Number(usize),
    Percent(usize),
}

impl Portion {
    /// How many of so many, rounded up.
    pub(crate) fn of(self, all: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => (percent * all).div_ceil(100),
        }
    }
}

/// What a field says; none when it says nothing that can be understood.
pub(crate) fn portion(value: &IntOrString) -> Option<Portion> {
    match value {
        IntOrString::Int(number) => usize::try_from(*number).ok().map(Portion::Number),
        IntOrString::String(text) => {
            let percent = text.strip_suffix('%')?;
            let is_plain = percent.chars().all(|c| c.is_ascii_digit());
            let percent = percent.parse().ok().filter(|_| is_plain)?;
            Some(Portion::Percent(percent))
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

    use super::portion;

    #[test]
    fn percentages_are_rounded_up() {
        let text = |text: &str| IntOrString::String(text.to_owned());
        for (value, all, wanted) in [
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
            let amount = portion(&value).map(|portion| portion.of(all));
            assert_eq!(amount, wanted, "{value:?} of {all}");
        }
    }
}
