//! Converts values to JSON within a budget.

use base64::Engine as _;
use serde_json::{Map, Value as Json};

use super::value::{Key, Value, integer};
use crate::budget::Budget;
use crate::error::EvaluationError;

/// The largest integer that every JSON parser reads exactly.
const MAX_SAFE_INTEGER: i128 = (1 << 53) - 1;
/// The maximum nesting of JSON values. Request bodies have the same limit. Without it, recursion
/// over the result could overflow the stack.
const MAX_DEPTH: usize = 127;

impl Value {
    /// Converts the value to JSON as cel-go does for a `google.protobuf.Value`: integers beyond
    /// 53 bits become strings. Fails for values that have no JSON form. Each part is charged to the
    /// budget, because a value with shared parts is small in memory and large in JSON.
    pub fn to_json(&self, budget: &mut Budget) -> Result<Json, EvaluationError> {
        let integers = Integers::SafeOnly;
        Writer { integers, budget }.write(self, 0)
    }

    /// Converts the value to JSON as Kubernetes does for object literals (`ObjectVal.Value`): all
    /// integers stay numbers.
    pub fn to_native(&self, budget: &mut Budget) -> Result<Json, EvaluationError> {
        let integers = Integers::All;
        Writer { integers, budget }.write(self, 0)
    }
}

/// Which integers are written as numbers. Others are written as strings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Integers {
    SafeOnly,
    All,
}

struct Writer<'a> {
    integers: Integers,
    budget: &'a mut Budget,
}

impl Writer<'_> {
    fn write(&mut self, value: &Value, depth: usize) -> Result<Json, EvaluationError> {
        self.budget.step()?;
        Ok(match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(number) if self.is_number(i128::from(*number)) => Json::from(*number),
            Value::Uint(number) if self.is_number(i128::from(*number)) => Json::from(*number),
            Value::Double(number) => match integer(*number) {
                Some(integer) => Json::from(integer),
                None => serde_json::Number::from_f64(*number)
                    .map(Json::Number)
                    .ok_or_else(|| {
                        EvaluationError::new(format!("{number} is no number of JSON"))
                    })?,
            },
            Value::String(text) => {
                self.budget.charge_bytes(text.len())?;
                Json::from(&**text)
            }
            Value::Bytes(bytes) => {
                self.budget.charge_bytes(bytes.len())?;
                Json::from(base64::engine::general_purpose::STANDARD.encode(bytes))
            }
            Value::Int(_) | Value::Uint(_) | Value::Duration(_) | Value::Timestamp(_) => {
                Json::from(value.shown())
            }
            Value::List(items, _) => {
                let depth = enter(depth)?;
                let items = items.iter().map(|item| self.write(item, depth));
                Json::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Map(entries) => {
                let depth = enter(depth)?;
                let mut members = Map::new();
                for (key, value) in entries.iter() {
                    let name = self.name(key)?;
                    members.insert(name, self.write(value, depth)?);
                }
                Json::Object(members)
            }
            Value::ObjectLiteral(object) => {
                let depth = enter(depth)?;
                let mut members = Map::new();
                for (name, value) in &object.fields {
                    members.insert(name.clone(), self.write(value, depth)?);
                }
                Json::Object(members)
            }
            other => {
                return Err(EvaluationError::new(format!(
                    "unsupported type {}",
                    other.type_name()
                )));
            }
        })
    }

    fn is_number(&self, number: i128) -> bool {
        self.integers == Integers::All || (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&number)
    }

    fn name(&mut self, key: &Key) -> Result<String, EvaluationError> {
        match key {
            Key::String(text) => {
                self.budget.charge_bytes(text.len())?;
                Ok(text.to_string())
            }
            other => Ok(Value::from(other).shown()),
        }
    }
}

/// The depth of the parts of a list, map or object of that depth. Fails beyond the limit.
pub(super) fn enter(depth: usize) -> Result<usize, EvaluationError> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(EvaluationError::new(format!(
            "nested deeper than {MAX_DEPTH}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Value};

    #[test]
    fn nesting_beyond_the_limit_of_request_bodies_fails() {
        let nested = |depth: usize| {
            let value = (0..depth).fold(Value::Null, |inner, _| Value::list(vec![inner]));
            value.to_json(&mut Budget::default())
        };
        assert!(nested(127).is_ok());
        let error = nested(128).unwrap_err();
        assert_eq!(error.to_string(), "nested deeper than 127");
    }
}
