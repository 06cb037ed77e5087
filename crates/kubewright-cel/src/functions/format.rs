//! `'%s has %d'.format([a, b])`, as cel-go formats it in the version that Kubernetes uses
//! (ext/formatting.go). Doubles are written as golang.org/x/text writes them in English.

use super::arguments::Arguments;
use super::english_numbers::{fixed_point, scientific};
use super::overload::{Overload, member};
use super::type_pattern::{LIST_OF_DYN, STRING};
use crate::budget::Budget;
use crate::cost::CallEstimate;
use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Key, Value};

pub(super) static OVERLOADS: &[Overload] = &[member("format", &[STRING, LIST_OF_DYN], STRING)
    .overload("string_format", format, |operands| {
        CallEstimate::cost(operands.traversal(0))
    })];

const DEFAULT_PRECISION: u64 = 6;

fn format(args: Arguments<'_>, budget: &mut Budget) -> EvaluationResult {
    let items = args.list(1)?;
    let mut out = String::new();
    let mut rest = args.string(0)?;
    let mut next = 0;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        if after.is_empty() {
            return Err(EvaluationError::new("unexpected end of string"));
        }
        let item = items
            .get(next)
            .ok_or_else(|| EvaluationError::new(format!("index {next} out of range")))?;
        next += 1;
        let (clause, after_clause) = Clause::parse(after)?;
        clause.write(item, &mut out, budget)?;
        rest = after_clause;
    }
    out.push_str(rest);
    Ok(Value::string(&out))
}

/// A clause, such as `%.3f`.
struct Clause {
    verb: char,
    precision: u64,
}

impl Clause {
    /// Parses a clause after its `%`. Returns what follows it.
    fn parse(text: &str) -> Result<(Self, &str), EvaluationError> {
        let error = |reason: &str| {
            EvaluationError::new(format!("could not parse formatting clause: {reason}"))
        };
        let (precision, rest) = precision(text)
            .map_err(|reason| error(&format!("error while parsing precision: {reason}")))?;
        let mut chars = rest.chars();
        match chars.next() {
            Some(verb @ ('s' | 'd' | 'f' | 'e' | 'b' | 'x' | 'X' | 'o')) => {
                Ok((Self { verb, precision }, chars.as_str()))
            }
            other => {
                let verb = String::from_iter(other);
                Err(error(&format!("unrecognized formatting clause {verb:?}")))
            }
        }
    }

    fn write(
        &self,
        item: &Value,
        out: &mut String,
        budget: &mut Budget,
    ) -> Result<(), EvaluationError> {
        let formatted = match self.verb {
            's' => return StringClause { budget, out }.top_level(item),
            'd' => match item {
                Value::Int(_) | Value::Uint(_) => Ok(item.shown()),
                _ => Err("decimal clause can only be used on integers"),
            },
            'f' => double(item)
                .map(|number| fixed_point(number, self.precision))
                .ok_or("fixed-point clause can only be used on doubles"),
            'e' => double(item)
                .map(|number| scientific(number, self.precision))
                .ok_or("scientific clause can only be used on doubles"),
            'b' => match item {
                Value::Bool(value) => Ok(u8::from(*value).to_string()),
                _ => integer(item, |number| format!("{number:b}"))
                    .ok_or("only integers and bools can be formatted as binary"),
            },
            'o' => integer(item, |number| format!("{number:o}"))
                .ok_or("octal clause can only be used on integers"),
            'x' => hexadecimal(item),
            _ => hexadecimal(item).map(|text| text.to_uppercase()),
        };
        let text = formatted.map_err(|reason| {
            let actual = item.type_name();
            EvaluationError::new(format!(
                "error during formatting: {reason}, was given {actual}"
            ))
        })?;
        budget.charge_bytes(text.len())?;
        out.push_str(&text);
        Ok(())
    }
}

/// Parses the precision before a verb. Returns what follows it.
fn precision(text: &str) -> Result<(u64, &str), String> {
    let Some(after_point) = text.strip_prefix('.') else {
        return Ok((DEFAULT_PRECISION, text));
    };
    let end = after_point
        .find(|c: char| !c.is_ascii_digit())
        .ok_or("could not find end of precision specifier")?;
    let (digits, rest) = after_point.split_at(end);
    let number: Option<i64> = digits.parse().ok();
    match number.and_then(|number| u64::try_from(number).ok()) {
        Some(number) => Ok((number, rest)),
        None => {
            let reason = match digits {
                "" => "invalid syntax",
                _ => "value out of range",
            };
            Err(format!(
                "error while converting precision to integer: strconv.Atoi: parsing {digits:?}: \
                 {reason}"
            ))
        }
    }
}

/// A double, or a string that is the name of a special double.
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

/// An integer by its sign and its magnitude.
fn integer(item: &Value, write: impl Fn(u64) -> String) -> Option<String> {
    match item {
        Value::Int(number) if *number < 0 => Some(format!("-{}", write(number.unsigned_abs()))),
        Value::Int(number) => Some(write(number.unsigned_abs())),
        Value::Uint(number) => Some(write(*number)),
        _ => None,
    }
}

fn hexadecimal(item: &Value) -> Result<String, &'static str> {
    let text = match item {
        Value::String(text) => Some(hexadecimal_bytes(text.as_bytes())),
        Value::Bytes(bytes) => Some(hexadecimal_bytes(bytes)),
        _ => integer(item, |number| format!("{number:x}")),
    };
    text.ok_or("only integers, byte buffers, and strings can be formatted as hex")
}

fn hexadecimal_bytes(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)])
        .flatten()
        .collect()
}

/// Writes a `%s` clause. Each part is charged, because a value with shared parts is small in memory
/// and large as a string.
struct StringClause<'a> {
    budget: &'a mut Budget,
    out: &'a mut String,
}

impl StringClause<'_> {
    /// Writes a value that is not part of another.
    fn top_level(&mut self, value: &Value) -> Result<(), EvaluationError> {
        match value {
            Value::String(text) => self.push(text),
            Value::Bytes(bytes) => self.push(&String::from_utf8_lossy(bytes)),
            Value::Double(number) => self.push(&go_double(*number)),
            Value::Duration(_) | Value::Timestamp(_) => self.push(&value.shown()),
            other => self.nested(other),
        }
    }

    /// Writes a part of a value, in the syntax of expressions.
    fn nested(&mut self, value: &Value) -> Result<(), EvaluationError> {
        self.budget.step()?;
        match value {
            Value::Null => self.push("null"),
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) => self.push(&value.shown()),
            Value::String(text) => self.push(&format!("{text:?}")),
            Value::Bytes(bytes) => self.push(&format!("b{:?}", String::from_utf8_lossy(bytes))),
            Value::Double(number) if number.is_finite() => self.push(&format!("{number:.6}")),
            Value::Double(number) => self.push(&format!("{:?}", go_double(*number))),
            Value::Duration(_) => self.push(&format!("duration({:?})", value.shown())),
            Value::Timestamp(_) => self.push(&format!("timestamp({:?})", value.shown())),
            Value::Type(name) => self.push(name),
            Value::List(items, _) => {
                self.push("[")?;
                for (index, item) in items.iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.nested(item)?;
                }
                self.push("]")
            }
            Value::Map(entries) => {
                let mut sorted: Vec<(String, &Value)> = entries
                    .iter()
                    .map(|(key, value)| (formatted_key(key), value))
                    .collect();
                sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
                self.push("{")?;
                for (index, (key, value)) in sorted.into_iter().enumerate() {
                    self.push(if index > 0 { ", " } else { "" })?;
                    self.push(&format!("{key}:"))?;
                    self.nested(value)?;
                }
                self.push("}")
            }
            other => Err(EvaluationError::new(format!(
                "error during formatting: string clause can only be used on strings, bools, bytes, \
                 ints, doubles, maps, lists, types, durations, and timestamps, was given {}",
                other.type_name()
            ))),
        }
    }

    fn push(&mut self, text: &str) -> Result<(), EvaluationError> {
        self.budget.charge_bytes(text.len())?;
        self.out.push_str(text);
        Ok(())
    }
}

fn formatted_key(key: &Key) -> String {
    match key {
        Key::String(text) => format!("{text:?}"),
        other => Value::from(other).shown(),
    }
}

/// A double as Go's `%g` writes it.
fn go_double(number: f64) -> String {
    match number {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        number => Value::Double(number).shown(),
    }
}
