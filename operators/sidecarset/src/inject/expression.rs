use std::fmt;

/// An expression over one variable: `max(cpu * 50%, 50m)`.
///
/// Numbers are quantities as Kubernetes writes them, or percentages; there are `+`, `-`, `*`, `/`,
/// parentheses, `max` and `min`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Number(f64),
    Variable,
    Sum(Box<Expression>, Box<Expression>),
    Difference(Box<Expression>, Box<Expression>),
    Product(Box<Expression>, Box<Expression>),
    Quotient(Box<Expression>, Box<Expression>),
    Largest(Vec<Expression>),
    Smallest(Vec<Expression>),
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Processors; in thousandths of one.
    Cpu,
    /// Bytes.
    Memory,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        })
    }
}

impl Unit {
    /// An amount as Kubernetes writes it, rounded up; none when it is none.
    pub(crate) fn quantity(self, amount: f64) -> Option<String> {
        // What binary fractions add is not rounded up.
        const NOISE: f64 = 1e-6;
        if !amount.is_finite() || amount < 0.0 {
            return None;
        }
        let (whole, part) = match self {
            Self::Cpu => (1000.0, "m"),
            Self::Memory => (1.0, ""),
        };
        let parts = (amount * whole - NOISE).ceil().max(0.0);
        Some(if parts % whole == 0.0 {
            format!("{:.0}", parts / whole)
        } else {
            format!("{parts:.0}{part}")
        })
    }
}

/// A quantity, such as `500m` or `128Mi`.
pub(crate) fn quantity(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    // The e of an exponent is no suffix.
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let suffix = text.strip_prefix(digits)?;
    let number: f64 = digits.parse().ok()?;
    Some(number * factor(suffix)?)
}

fn factor(suffix: &str) -> Option<f64> {
    const THOUSAND: f64 = 1000.0;
    const KIBI: f64 = 1024.0;
    let (base, power) = match suffix {
        "" => (1.0, 0),
        "n" => (THOUSAND, -3),
        "u" => (THOUSAND, -2),
        "m" => (THOUSAND, -1),
        "k" => (THOUSAND, 1),
        "M" => (THOUSAND, 2),
        "G" => (THOUSAND, 3),
        "T" => (THOUSAND, 4),
        "P" => (THOUSAND, 5),
        "E" => (THOUSAND, 6),
        "Ki" => (KIBI, 1),
        "Mi" => (KIBI, 2),
        "Gi" => (KIBI, 3),
        "Ti" => (KIBI, 4),
        "Pi" => (KIBI, 5),
        "Ei" => (KIBI, 6),
        _ => return None,
    };
    Some(f64::powi(base, power))
}

impl Expression {
    /// Reads an expression; the error says what is wrong with it.
    pub(crate) fn parse(text: &str, unit: Unit) -> Result<Self, String> {
        let mut reader = Reader {
            rest: text,
            variable: unit.to_string(),
            depth: 0,
        };
        let expression = reader.sum()?;
        match reader.rest.trim_start() {
            "" => Ok(expression),
            rest => Err(format!("nothing is expected at {rest:?}")),
        }
    }

    /// Its value.
    pub(crate) fn value(&self, variable: f64) -> f64 {
        let value = |one: &Self| one.value(variable);
        match self {
            Self::Number(number) => *number,
            Self::Variable => variable,
            Self::Sum(a, b) => value(a) + value(b),
            Self::Difference(a, b) => value(a) - value(b),
            Self::Product(a, b) => value(a) * value(b),
            Self::Quotient(a, b) => value(a) / value(b),
            Self::Largest(all) => all.iter().map(value).fold(f64::NEG_INFINITY, f64::max),
            Self::Smallest(all) => all.iter().map(value).fold(f64::INFINITY, f64::min),
        }
    }
}

/// How deep parentheses may be, so that nobody's stack ends.
const DEEPEST: usize = 32;

struct Reader<'t> {
    rest: &'t str,
    variable: String,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        loop {
            let make = match self.symbol(&['+', '-']) {
                Some('+') => Expression::Sum,
                Some(_) => Expression::Difference,
                None => return Ok(left),
            };
            left = make(Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.operand()?;
        loop {
            let make = match self.symbol(&['*', '/']) {
                Some('*') => Expression::Product,
                Some(_) => Expression::Quotient,
                None => return Ok(left),
            };
            left = make(Box::new(left), Box::new(self.operand()?));
        }
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.symbol(&['(']).is_some() {
            return self.nested(|reader| {
                let inner = reader.sum()?;
                reader.expect(')')?;
                Ok(inner)
            });
        }
        let word = self.word();
        match word {
            "" => Err(format!("a number is expected at {:?}", self.rest)),
            "max" => Ok(Expression::Largest(self.arguments()?)),
            "min" => Ok(Expression::Smallest(self.arguments()?)),
            word if word == self.variable => Ok(Expression::Variable),
            word => number(word)
                .map(Expression::Number)
                .ok_or_else(|| format!("{word:?} is neither a number nor {}", self.variable)),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, String> {
        self.expect('(')?;
        self.nested(|reader| {
            let mut all = vec![reader.sum()?];
            while reader.symbol(&[',']).is_some() {
                all.push(reader.sum()?);
            }
            reader.expect(')')?;
            Ok(all)
        })
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth == DEEPEST {
            return Err(format!("more than {DEEPEST} parentheses in each other"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn word(&mut self) -> &'t str {
        self.rest = self.rest.trim_start();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '%';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn symbol(&mut self, symbols: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        let rest = self.rest.strip_prefix(symbols)?;
        self.rest = rest;
        Some(first)
    }

    fn expect(&mut self, symbol: char) -> Result<(), String> {
        match self.symbol(&[symbol]) {
            Some(_) => Ok(()),
            None => Err(format!("{symbol:?} is expected at {:?}", self.rest)),
        }
    }
}

fn number(word: &str) -> Option<f64> {
    match word.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok().map(|number| number / 100.0),
        None => quantity(word),
    }
}

#[cfg(test)]
mod tests {
    use super::{Expression, Unit, quantity};

    #[test]
    fn expressions_have_the_values_of_arithmetic() {
        for (text, unit, variable, wanted) in [
            ("200m", Unit::Cpu, 0.0, "200m"),
            ("cpu", Unit::Cpu, 1.5, "1500m"),
            ("cpu*50%", Unit::Cpu, 4.0, "2"),
            ("max(cpu*50%, 50m)", Unit::Cpu, 0.01, "50m"),
            ("min(cpu, 1, 200m)", Unit::Cpu, 3.0, "200m"),
            ("cpu*10% + 100m", Unit::Cpu, 1.0, "200m"),
            ("1 + 2 * cpu - 1", Unit::Cpu, 1.0, "2"),
            ("(1 + 2) * cpu / 2", Unit::Cpu, 1.0, "1500m"),
            ("0.1 + 0.2", Unit::Cpu, 0.0, "300m"),
            ("memory / 3", Unit::Memory, 10.0, "4"),
            ("128Mi", Unit::Memory, 0.0, "134217728"),
            ("max(memory, 1k)", Unit::Memory, 0.0, "1000"),
        ] {
            let value = Expression::parse(text, unit).unwrap().value(variable);
            assert_eq!(unit.quantity(value).as_deref(), Some(wanted), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_says_why() {
        let deep = "(".repeat(100);
        for (text, wanted) in [
            ("", "a number is expected at \"\""),
            ("memory", "\"memory\" is neither a number nor cpu"),
            ("1 +", "a number is expected at \"\""),
            ("1 1", "nothing is expected at \"1\""),
            ("max(1", "')' is expected at \"\""),
            ("max 1", "'(' is expected at \"1\""),
            ("5x", "\"5x\" is neither a number nor cpu"),
            (&deep, "more than 32 parentheses in each other"),
        ] {
            assert_eq!(Expression::parse(text, Unit::Cpu), Err(wanted.to_owned()));
        }
        let nothing = Expression::parse("cpu / 0", Unit::Cpu).unwrap().value(1.0);
        assert_eq!(Unit::Cpu.quantity(nothing), None);
        let below = Expression::parse("cpu - 2", Unit::Cpu).unwrap().value(1.0);
        assert_eq!(Unit::Cpu.quantity(below), None);
    }

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        for (text, wanted) in [
            ("1", Some(1.0)),
            ("500m", Some(0.5)),
            ("1.5", Some(1.5)),
            ("1Ki", Some(1024.0)),
            ("2G", Some(2e9)),
            ("1e3", Some(1000.0)),
            ("x", None),
            ("1Q", None),
        ] {
            assert_eq!(quantity(text), wanted, "{text}");
        }
    }
}
