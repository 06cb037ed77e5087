use serde_json::{Map, Value as Json};

use super::budget::Budget;
use super::functions::shown;
use super::problem::Fault;
use super::value::{Key, Value, whole};

/// The largest whole number that every reader of JSON reads exactly.
const SAFE: i128 = (1 << 53) - 1;
/// How deep what is written may nest: no body nests deeper either, and it is walked recursively.
const DEEPEST: usize = 127;

impl Value {
    /// The value as a part of an object, as cel-go writes it into a `google.protobuf.Value`; what
    /// has no such form is an error. Each part costs a step: a value that is small because its
    /// parts are shared is not when it is written.
    pub(crate) fn to_json(&self, budget: &mut Budget) -> Result<Json, Fault> {
        let numbers = Numbers::Safe;
        Writer { numbers, budget }.write(self, 0)
    }

    /// The same as Go has it in memory (`ObjectVal.Value`): whole numbers stay numbers.
    pub(crate) fn to_native(&self, budget: &mut Budget) -> Result<Json, Fault> {
        let numbers = Numbers::All;
        Writer { numbers, budget }.write(self, 0)
    }
}

/// Which whole numbers are written as numbers; the others are texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Safe,
    All,
}

struct Writer<'a> {
    numbers: Numbers,
    budget: &'a mut Budget,
}

impl Writer<'_> {
    fn write(&mut self, value: &Value, depth: usize) -> Result<Json, Fault> {
        self.budget.step()?;
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) if self.keeps(i128::from(*number)) => Json::from(*number),
            Value::Uint(number) if self.keeps(i128::from(*number)) => Json::from(*number),
            Value::Double(number) => match whole(*number) {
                Some(Value::Int(number)) => Json::from(number),
                _ => serde_json::Number::from_f64(*number)
                    .map(Json::Number)
                    .ok_or_else(|| Fault::new(format!("{number} is no number of JSON")))?,
            },
            Value::String(text) => {
                self.budget.bytes(text.len())?;
                Json::from(&**text)
            }
            Value::Bytes(bytes) => {
                self.budget.bytes(bytes.len())?;
                Json::from(encoded(bytes))
            }
            Value::Int(_) | Value::Uint(_) | Value::Duration(_) | Value::Timestamp(_) => {
                Json::from(shown(value))
            }
            Value::List(items, _) => {
                let depth = below(depth)?;
                let items = items.iter().map(|item| self.write(item, depth));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let depth = below(depth)?;
                let mut members = Map::new();
                for (key, value) in entries.iter() {
                    let name = self.name(key)?;
                    members.insert(name, self.write(value, depth)?);
                }
                Json::Object(members)
            }
            Value::Made(made) => {
                let depth = below(depth)?;
                let mut members = Map::new();
                for (name, value) in &made.fields {
                    members.insert(name.clone(), self.write(value, depth)?);
                }
                Json::Object(members)
            }
            other => {
                return Err(Fault::new(format!(
                    "unsupported type {}",
                    other.type_name()
                )));
            }
        })
    }

    fn keeps(&self, number: i128) -> bool {
        self.numbers == Numbers::All || (-SAFE..=SAFE).contains(&number)
    }

    fn name(&mut self, key: &Key) -> Result<String, Fault> {
        match key {
            Key::String(text) => {
                self.budget.bytes(text.len())?;
                Ok(text.to_string())
            }
            other => Ok(shown(&Value::from(other))),
        }
    }
}

/// The depth of what stands in something of this depth.
pub(super) fn below(depth: usize) -> Result<usize, Fault> {
    match depth < DEEPEST {
        true => Ok(depth + 1),
        false => Err(Fault::new(format!("nested deeper than {DEEPEST}"))),
    }
}

fn encoded(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
