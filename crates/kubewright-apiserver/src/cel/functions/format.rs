//! `'%s has %d'.format([a, b])`, as cel-go does it in the version that Kubernetes uses
//! (ext/formatting.go): numbers with a point are written as golang.org/x/text writes them in
//! English.

use std::fmt::Write as _;

use super::convert::shown;
use crate::cel::budget::Budget;
use crate::cel::evaluate::Evaluated;
use crate::cel::problem::Fault;
use crate::cel::value::{Key, Value};

/// What Go's parser of formats takes for the beginning of a number that is too long.
const LONGEST_PRECISION: u64 = 1_000_000;
const NO_VERB: &str = "%!(NOVERB)";
const DEFAULT_PRECISION: u64 = 6;
/// No double has more digits behind the point.
const MOST_DIGITS: usize = 1074;

pub(super) fn call(name: &str, args: &[Value], budget: &mut Budget) -> Option<Evaluated> {
    match (name, args) {
        ("format", [Value::String(text), Value::List(items, _)]) => {
            Some(format(text, items, budget))
        }
        _ => None,
    }
}

fn format(text: &str, items: &[Value], budget: &mut Budget) -> Evaluated {
    let mut out = String::new();
    let mut rest = text;
    let mut next = 0;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        if after.is_empty() {
            return Err(Fault::new("unexpected end of string"));
        }
        let item = items.get(next);
        let item = item.ok_or_else(|| Fault::new(format!("index {next} out of range")))?;
        next += 1;
        let (clause, after) = Clause::read(after)?;
        clause.write(item, &mut out, budget)?;
        rest = after;
    }
    out.push_str(rest);
    Ok(Value::text(&out))
}

/// One `%.3f`.
struct Clause {
    verb: char,
    precision: u64,
}

impl Clause {
    /// Reads a clause behind its `%`, and returns what follows it.
    fn read(text: &str) -> Result<(Self, &str), Fault> {
        let wrong = |why: &str| Fault::new(format!("could not parse formatting clause: {why}"));
        let (precision, rest) = precision(text)
            .map_err(|why| wrong(&format!("error while parsing precision: {why}")))?;
        let mut chars = rest.chars();
        match chars.next() {
            Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
                Ok((Self { verb, precision }, chars.as_str()))
            }
            other => {
                let verb = String::from_iter(other);
                Err(wrong(&format!("unrecognized formatting clause {verb:?}")))
            }
        }
    }

    fn write(&self, item: &Value, out: &mut String, budget: &mut Budget) -> Result<(), Fault> {
        let given = item.type_name();
        let wrong = |what: &str| {
            Fault::new(format!(
                "error during formatting: {what}, was given {given}"
            ))
        };
        let text = match self.verb {
            's' => return Plain { budget, out }.top(item),
            'd' => match item {
                Value::Int(_) | Value::Uint(_) => shown(item),
                _ => return Err(wrong("decimal clause can only be used on integers")),
            },
            'f' => {
                let number = double(item);
                let number = number
                    .ok_or_else(|| wrong("fixed-point clause can only be used on doubles"))?;
                fixed(number, self.precision)
            }
            'e' => {
                let number = double(item);
                let number =
                    number.ok_or_else(|| wrong("scientific clause can only be used on doubles"))?;
                scientific(number, self.precision)
            }
            'b' => match item {
                Value::Bool(value) => u8::from(*value).to_string(),
                _ => whole(item, |number| format!("{number:b}"))
                    .ok_or_else(|| wrong("only integers and bools can be formatted as binary"))?,
            },
            'o' => whole(item, |number| format!("{number:o}"))
                .ok_or_else(|| wrong("octal clause can only be used on integers"))?,
            _ => {
                let text = match item {
                    Value::String(text) => Some(hexadecimal(text.as_bytes())),
                    Value::Bytes(bytes) => Some(hexadecimal(bytes)),
                    _ => whole(item, |number| format!("{number:x}")),
                };
                let text = text.ok_or_else(|| {
                    wrong("only integers, byte buffers, and strings can be formatted as hex")
                })?;
                if self.verb == 'X' {
                    text.to_uppercase()
                } else {
                    text
                }
            }
        };
        budget.bytes(text.len())?;
        out.push_str(&text);
        Ok(())
    }
}

/// The number between a point and the verb, and what follows it.
fn precision(text: &str) -> Result<(u64, &str), String> {
    let Some(rest) = text.strip_prefix('.') else {
        return Ok((DEFAULT_PRECISION, text));
    };
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let end = end.ok_or("could not find end of precision specifier")?;
    let (digits, rest) = rest.split_at(end);
    let number: Option<i64> = digits.parse().ok();
    match number.and_then(|number| u64::try_from(number).ok()) {
        Some(number) => Ok((number, rest)),
        None => {
            let why = match digits {
                "" => "invalid syntax",
                _ => "value out of range",
            };
            Err(format!(
                "error while converting precision to integer: strconv.Atoi: parsing {digits:?}: \
                 {why}"
            ))
        }
    }
}

/// A double, or one of the texts that stand for what is none.
fn double(item: &Value) -> Option<f64> {
    match item {
        Value::Double(number) => Some(*number),
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn whole(item: &Value, write: impl Fn(u64) -> String) -> Option<String> {
    match item {
        Value::Int(number) if *number < 0 => Some(format!("-{}", write(number.unsigned_abs()))),
        Value::Int(number) => Some(write(number.unsigned_abs())),
        Value::Uint(number) => Some(write(*number)),
        _ => None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

/// What is no number, in English; none for numbers.
fn unusual(number: f64) -> Option<&'static str> {
    match number {
        number if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

/// golang.org/x/text keeps the most digits behind the point in 16 bits with a sign, negative for no
/// limit, and the least in 8 bits.
fn fixed(number: f64, precision: u64) -> String {
    if precision / 10 > LONGEST_PRECISION {
        return NO_VERB.to_owned();
    }
    if let Some(text) = unusual(number) {
        return text.to_owned();
    }
    let [low, high, ..] = precision.to_le_bytes();
    let (least, most) = (usize::from(low), i16::from_le_bytes([low, high]));
    let size = number.abs();
    let digits = match usize::try_from(most) {
        Ok(most) => {
            let most = most.min(MOST_DIGITS);
            format!("{size:.most$}")
        }
        // Without a limit, as few digits as tell the number apart.
        Err(_) => size.to_string(),
    };
    let (before, behind) = digits.split_once('.').unwrap_or((&digits, ""));
    let behind = behind.trim_end_matches('0');
    let sign = if number < 0.0 { "-" } else { "" };
    match behind.len().max(least) {
        0 => format!("{sign}{}", grouped(before)),
        length => format!("{sign}{}.{behind:0<length$}", grouped(before)),
    }
}

/// Digits with a comma after each thousand.
fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Always with six digits behind the point: what the format calls a precision is the least width,
/// of which 16 bits are kept.
fn scientific(number: f64, precision: u64) -> String {
    if precision / 10 > LONGEST_PRECISION {
        return NO_VERB.to_owned();
    }
    let text = match unusual(number) {
        Some(text) => text.to_owned(),
        None => {
            let text = format!("{:.6e}", number.abs());
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let sign = if number < 0.0 { "-" } else { "" };
            format!("{sign}{digits}×10{}", superscript(exponent))
        }
    };
    let width = usize::try_from(precision & 0xffff).unwrap_or_default();
    let missing = width.saturating_sub(text.chars().count());
    format!("{}{text}", " ".repeat(missing))
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

/// What `%s` writes. Each part costs a step: a value that is small because its parts are shared is
/// not when it is written.
struct Plain<'a> {
    budget: &'a mut Budget,
    out: &'a mut String,
}

impl Plain<'_> {
    /// A value that is not in another.
    fn top(&mut self, value: &Value) -> Result<(), Fault> {
        match value {
            Value::String(text) => self.push(text),
            Value::Bytes(bytes) => self.push(&String::from_utf8_lossy(bytes)),
            Value::Double(number) => self.push(&go_double(*number)),
            Value::Duration(_) | Value::Timestamp(_) => self.push(&shown(value)),
            other => self.inner(other),
        }
    }

    /// A value in another: as it would stand in an expression.
    fn inner(&mut self, value: &Value) -> Result<(), Fault> {
        self.budget.step()?;
        match value {
            Value::Null => self.push("null"),
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) => self.push(&shown(value)),
            Value::String(text) => self.push(&format!("{text:?}")),
            Value::Bytes(bytes) => self.push(&format!("b{:?}", String::from_utf8_lossy(bytes))),
            Value::Double(number) if number.is_finite() => self.push(&format!("{number:.6}")),
            Value::Double(number) => self.push(&format!("{:?}", go_double(*number))),
            Value::Duration(_) => self.push(&format!("duration({:?})", shown(value))),
            Value::Timestamp(_) => self.push(&format!("timestamp({:?})", shown(value))),
            Value::Type(name) => self.push(name),
            Value::List(items, _) => {
                self.push("[")?;
                for (index, item) in items.iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.inner(item)?;
                }
                self.push("]")
            }
            Value::Map(entries) => {
                let mut entries: Vec<(String, &Value)> = entries
                    .iter()
                    .map(|(key, value)| (written_key(key), value))
                    .collect();
                entries.sort_by(|(one, _), (two, _)| one.cmp(two));
                self.push("{")?;
                for (index, (key, value)) in entries.into_iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.push(&format!("{key}:"))?;
                    self.inner(value)?;
                }
                self.push("}")
            }
            other => Err(Fault::new(format!(
                "error during formatting: string clause can only be used on strings, bools, bytes, \
                 ints, doubles, maps, lists, types, durations, and timestamps, was given {}",
                other.type_name()
            ))),
        }
    }

    fn push(&mut self, text: &str) -> Result<(), Fault> {
        self.budget.bytes(text.len())?;
        self.out.push_str(text);
        Ok(())
    }
}

fn written_key(key: &Key) -> String {
    match key {
        Key::String(text) => format!("{text:?}"),
        other => shown(&Value::from(other)),
    }
}

/// A double as Go's `%g` writes it.
fn go_double(number: f64) -> String {
    match number {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        number => shown(&Value::Double(number)),
    }
}

#[cfg(test)]
mod tests {
    use crate::cel::{Budget, Environment, Program, Variables};

    /// What an expression comes to, or why it does not.
    fn evaluated(source: &str) -> String {
        let program = Program::compile(source, &Environment::default()).unwrap();
        match program.evaluate(&Variables::default(), &mut Budget::default()) {
            Ok(value) => super::shown(&value),
            Err(fault) => fault.to_string(),
        }
    }

    /// Expected is what cel-go 0.26 returns in Kubernetes' environment.
    #[test]
    fn formats_are_those_of_cel_go() {
        for (source, expected) in [
            (r#""%f".format([1.5])"#, "1.500000"),
            (r#""%.3f".format([1234567.8912])"#, "1,234,567.891"),
            (r#""%.0f".format([2.5])"#, "2"),
            (r#""%.1f".format([0.25])"#, "0.2"),
            (r#""%.2f".format([-0.001])"#, "-0.00"),
            (r#""%f".format([-0.0])"#, "0.000000"),
            (r#""%.65536f".format([1.5])"#, "2"),
            (r#""%.256f".format([1234.0])"#, "1,234"),
            (r#""%.256f".format([5e-324])"#, "0"),
            (
                r#""%.300f".format([0.1])"#,
                "0.1000000000000000055511151231257827021181583404541015625",
            ),
            (r#""%.32768f".format([0.1])"#, "0.1"),
            (r#""%.32770f".format([123456.789])"#, "123,456.789"),
            (r#"string(size("%.32767f".format([5e-324])))"#, "1076"),
            (r#"string(size("%.65535f".format([0.1])))"#, "257"),
            (r#"string(size("%.2000000f".format([1.5])))"#, "130"),
            (r#""%.100000000f".format([1.5])"#, "%!(NOVERB)"),
            (r#""%.9223372036854775807e".format([1.5])"#, "%!(NOVERB)"),
            (r#""%f".format([double("NaN")])"#, "NaN"),
            (r#""%f".format(["-Infinity"])"#, "-∞"),
            (r#""%e".format([1052.032911275])"#, "1.052033×10⁰³"),
            (r#""%.3e".format([1052.032911275])"#, "1.052033×10⁰³"),
            (r#""%.20e".format([1.5])"#, "       1.500000×10⁰⁰"),
            (r#""%.65536e".format([1.5])"#, "1.500000×10⁰⁰"),
            (r#"string(size("%.65535e".format([1.5])))"#, "65535"),
            (r#""%e".format([-1e-300])"#, "-1.000000×10⁻³⁰⁰"),
            (r#""%e".format([9.9999999])"#, "1.000000×10⁰¹"),
            (r#""%e".format(["Infinity"])"#, "     ∞"),
            (r#""%s".format([1.5])"#, "1.5"),
            (r#""%s".format([1e30])"#, "1e+30"),
            (r#""%s".format([1e-7])"#, "1e-07"),
            (r#""%s".format([double("-Infinity")])"#, "-Inf"),
            (r#""%s".format(["a\"b"])"#, "a\"b"),
            (r#""%s".format([duration("1h")])"#, "3600s"),
            (r#""%s".format([type(1)])"#, "int"),
            (
                r#""%s".format([[dyn(1.5), dyn("a\"b\n"), dyn(1), dyn(true), dyn(null)]])"#,
                r#"[1.500000, "a\"b\n", 1, true, null]"#,
            ),
            (
                r#""%s".format([{dyn(1): 2, dyn("b"): 3, dyn(true): 4, dyn(2u): 5}])"#,
                r#"{"b":3, 1:2, 2:5, true:4}"#,
            ),
            (
                r#""%s".format([[double("NaN"), double("Infinity"), -1e30]])"#,
                r#"["NaN", "+Inf", -1000000000000000019884624838656.000000]"#,
            ),
            (
                r#""%s".format([[dyn(duration("90m")), dyn(timestamp("2020-01-01T00:00:00Z")), dyn(b"ab"), dyn(1u)]])"#,
                r#"[duration("5400s"), timestamp("2020-01-01T00:00:00Z"), b"ab", 1]"#,
            ),
            (r#""%b %b %o".format([-5, true, -8])"#, "-101 1 -10"),
            (
                r#""%x %X %x".format([-255, "abz", b"\x00\xff"])"#,
                "-ff 61627A 00ff",
            ),
            (r#""%d%%".format([1234567])"#, "1234567%"),
            (r#""%.2d %.2s".format([1, "abc"])"#, "1 abc"),
        ] {
            assert_eq!(evaluated(source), expected, "{source}");
        }
    }

    #[test]
    fn wrong_formats_fail_in_the_words_of_cel_go() {
        for (source, expected) in [
            (
                r#"dyn("%d").format([1.5])"#,
                "error during formatting: decimal clause can only be used on integers, was given \
                 double",
            ),
            (
                r#"dyn("%f").format([1])"#,
                "error during formatting: fixed-point clause can only be used on doubles, was given \
                 int",
            ),
            (
                r#"dyn("%x").format([1.5])"#,
                "error during formatting: only integers, byte buffers, and strings can be formatted \
                 as hex, was given double",
            ),
            (
                r#"dyn("%z").format([1])"#,
                "could not parse formatting clause: unrecognized formatting clause \"z\"",
            ),
            (r#"dyn("%d %d").format([1])"#, "index 1 out of range"),
            (r#"dyn("%").format([1])"#, "unexpected end of string"),
            (
                r#"dyn("%.").format([1])"#,
                "could not parse formatting clause: error while parsing precision: could not find \
                 end of precision specifier",
            ),
            (
                r#"dyn("%.f").format([1.0])"#,
                "could not parse formatting clause: error while parsing precision: error while \
                 converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
            ),
        ] {
            assert_eq!(evaluated(source), expected, "{source}");
        }
    }
}
