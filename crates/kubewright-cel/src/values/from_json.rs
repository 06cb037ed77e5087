//! Converts JSON to values, by declared types.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value as Json;

use super::time::{parse_date, parse_duration};
use super::types::{ListShape, Type};
use super::value::{Key, Value, integer};

impl Value {
    /// Converts a part of an object to the value that expressions see. Fields that an object type
    /// does not declare are not visible.
    pub fn from_json(json: &Json, of: &Type) -> Self {
        match (json, of) {
            (Json::Null, _) => Self::Null,
            (Json::Object(members), Type::Object(of)) => {
                let fields = of.fields().filter_map(|(name, field)| {
                    let value = Self::from_json(members.get(&field.property)?, &field.of);
                    Some((Key::String(name.into()), value))
                });
                Self::map(fields.collect())
            }
            (Json::Object(members), of) => {
                let value_type = match of {
                    Type::Map(_, value) => value,
                    _ => &Type::Dyn,
                };
                let entries = members.iter().map(|(name, value)| {
                    let key = Key::String(name.as_str().into());
                    (key, Self::from_json(value, value_type))
                });
                Self::map(entries.collect())
            }
            (Json::Array(items), of) => {
                let (item_type, shape) = match of {
                    Type::List(of, shape) => (&**of, shape.clone()),
                    _ => (&Type::Dyn, ListShape::default()),
                };
                let items = items.iter().map(|item| Self::from_json(item, item_type));
                Self::List(items.collect(), Arc::new(shape))
            }
            (Json::Bool(value), _) => Self::Bool(*value),
            (Json::Number(number), Type::Double) => {
                Self::Double(number.as_f64().unwrap_or_default())
            }
            (Json::Number(number), _) => match (number.as_i64(), number.as_f64()) {
                (Some(number), _) => Self::Int(number),
                (None, Some(number)) => integer(number).map_or(Self::Double(number), Self::Int),
                (None, None) => Self::Null,
            },
            (Json::String(text), of) => from_string(text, of),
        }
    }
}

/// A string whose declared format has a type of its own is converted to that type. A string that
/// does not match its format stays a string.
fn from_string(text: &str, of: &Type) -> Value {
    let converted = match of {
        Type::Bytes => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(text);
            bytes.ok().map(|bytes| Value::Bytes(bytes.into()))
        }
        Type::Duration => parse_duration(text).map(Value::Duration),
        Type::Timestamp => text
            .parse()
            .ok()
            .or_else(|| parse_date(text))
            .map(Value::Timestamp),
        _ => None,
    };
    converted.unwrap_or_else(|| Value::string(text))
}
