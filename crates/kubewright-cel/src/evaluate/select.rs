//! Selects the fields of values.

use std::sync::Arc;

use crate::error::EvaluationError;
use crate::values::{EvaluationResult, Key, Value};

/// `a.b`. A value without fields has no key of that name (`refQualify` of cel-go).
pub(super) fn select(operand: &Value, field: &str) -> EvaluationResult {
    match operand {
        Value::Map(entries) => match entries.get(&Key::String(field.into())) {
            Some(value) => Ok(value.clone()),
            None => Err(no_such_key(field)),
        },
        Value::Optional(_) => Ok(optional_select(operand, &Value::string(field))),
        // A field that the literal does not set is null.
        Value::ObjectLiteral(object) => {
            Ok(object.fields.get(field).cloned().unwrap_or(Value::Null))
        }
        Value::List(..) => Err(unsupported_index()),
        _ => Err(no_such_key(field)),
    }
}

/// `has(a.b)`.
pub(super) fn has_field(operand: &Value, field: &str) -> EvaluationResult {
    match operand {
        Value::Map(entries) => {
            let has_key = entries.contains_key(&Key::String(field.into()));
            Ok(Value::Bool(has_key))
        }
        Value::ObjectLiteral(object) => Ok(Value::Bool(object.fields.contains_key(field))),
        Value::List(..) => Err(unsupported_index()),
        _ => Ok(Value::Bool(false)),
    }
}

/// `a[?b]`: the optional value of a key.
pub(super) fn optional_select(operand: &Value, key: &Value) -> Value {
    let container = match operand {
        Value::Optional(None) => return Value::Optional(None),
        Value::Optional(Some(inner)) => &**inner,
        other => other,
    };
    let found = match (container, key) {
        (Value::Map(entries), key) => key.key().and_then(|key| entries.get(&key)),
        (Value::ObjectLiteral(object), Value::String(field)) => object.fields.get(&**field),
        (Value::List(items, _), Value::Int(index)) => usize::try_from(*index)
            .ok()
            .and_then(|index| items.get(index)),
        _ => None,
    };
    match found {
        Some(Value::Optional(inner)) => Value::Optional(inner.clone()),
        found => Value::Optional(found.map(|value| Arc::new(value.clone()))),
    }
}

fn no_such_key(field: &str) -> EvaluationError {
    EvaluationError::new(format!("no such key: {field}"))
}

fn unsupported_index() -> EvaluationError {
    EvaluationError::new("unsupported index type 'string' in list")
}
