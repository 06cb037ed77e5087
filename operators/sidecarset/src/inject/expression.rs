//! Expressions for resources, such as `max(cpu * 50%, 50m)`.

use std::fmt;

/// An expression over one variable.
///
/// Numbers are quantities as Kubernetes writes them, or percentages. Operators are `+`, `-`, `*`,
/// `/` and parentheses; functions are `max` and `min`.
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

/// The resource of an expression, and its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// CPUs; rounded to thousandths.
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
    /// Writes an amount as a quantity, rounded up; none if it is negative or not finite.
    pub(crate) fn quantity(self, amount: f64) -> Option<String> {
        // Rounding errors of binary fractions are not rounded up.
        const NOISE: f64 = 1e-6;
        if !amount.is_finite() || amount < 0.0 {
            return None;
        }
        let (parts_per_unit, suffix) = match self {
            Self::Cpu => (1000.0, "m"),
            Self::Memory => (1.0, ""),
        };
        let parts = (amount * parts_per_unit - NOISE).ceil().max(0.0);
        Some(if parts % parts_per_unit == 0.0 {
            format!("{:.0}", parts / parts_per_unit)
        } else {
            format!("{parts:.0}{suffix}")
        })
    }
}

/// Parses a quantity, such as `500m` or `128Mi`.
pub(crate) fn quantity(text: &str) -> Option<f64> {
    // Before the suffix is split off, since the `e` of an exponent is none.
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
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
    /// Parses an expression. The error is a message for the user.
    pub(crate) fn parse(text: &str, unit: Unit) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text,
            variable: unit.to_string(),
            depth: 0,
        };
        let expression = parser.sum()?;
        match parser.rest.trim_start() {
            "" => Ok(expression),
            rest => Err(format!("the end is expected at {rest:?}")),
        }
    }

    /// Returns the value of the expression for a value of the variable.
    pub(crate) fn value(&self, variable: f64) -> f64 {
        let value = |operand: &Self| operand.value(variable);
        match self {
            Self::Number(number) => *number,
            Self::Variable => variable,
            Self::Sum(a, b) => value(a) + value(b),
            Self::Difference(a, b) => value(a) - value(b),
            Self::Product(a, b) => value(a) * value(b),
            Self::Quotient(a, b) => value(a) / value(b),
            Self::Largest(operands) => operands.iter().map(value).fold(f64::NEG_INFINITY, f64::max),
            Self::Smallest(operands) => operands.iter().map(value).fold(f64::INFINITY, f64::min),
        }
    }
}

/// How deep parentheses may be nested, since the parser is recursive.
const MAX_DEPTH: usize = 32;

struct Parser<'t> {
    rest: &'t str,
    variable: String,
    depth: usize,
}

impl<'t> Parser<'t> {
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
            return self.nested(|parser| {
                let inner = parser.sum()?;
                parser.expect(')')?;
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
        self.nested(|parser| {
            let mut arguments = vec![parser.sum()?];
            while parser.symbol(&[',']).is_some() {
                arguments.push(parser.sum()?);
            }
            parser.expect(')')?;
            Ok(arguments)
        })
    }

    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} nested parentheses"));
        }
        self.depth += 1;
        let result = parse(self);
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
    fn expressions_are_evaluated_with_the_usual_precedence() {
        for (text, unit, variable, expected) in [
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
            assert_eq!(unit.quantity(value).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn invalid_expression_is_rejected_with_the_reason() {
        let deep = "(".repeat(100);
        for (text, expected) in [
            ("", "a number is expected at \"\""),
            ("memory", "\"memory\" is neither a number nor cpu"),
            ("1 +", "a number is expected at \"\""),
            ("1 1", "the end is expected at \"1\""),
            ("max(1", "')' is expected at \"\""),
            ("max 1", "'(' is expected at \"1\""),
            ("5x", "\"5x\" is neither a number nor cpu"),
            (&deep, "more than 32 nested parentheses"),
        ] {
            assert_eq!(Expression::parse(text, Unit::Cpu), Err(expected.to_owned()));
        }
        let infinite = Expression::parse("cpu / 0", Unit::Cpu).unwrap().value(1.0);
        assert_eq!(Unit::Cpu.quantity(infinite), None);
        let negative = Expression::parse("cpu - 2", Unit::Cpu).unwrap().value(1.0);
        assert_eq!(Unit::Cpu.quantity(negative), None);
    }

    #[test]
    fn quantities_are_parsed_as_kubernetes_writes_them() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("500m", Some(0.5)),
            ("1.5", Some(1.5)),
            ("1Ki", Some(1024.0)),
            ("2G", Some(2e9)),
            ("1e3", Some(1000.0)),
            ("x", None),
            ("1Q", None),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
    }
}
