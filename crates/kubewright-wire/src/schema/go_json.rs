//! Errors of Go's JSON decoder.

use serde_json::Value;

use super::handle::SchemaType;
use super::types::{Scalar, Type};

/// A value that does not match its type, with the message of Go's JSON decoder, as in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    message: String,
}

/// The position of Go's decoder: the current struct and the path of its field.
#[derive(Clone, Debug, Default)]
pub(super) struct GoPlace {
    /// The struct's name without its package.
    pub(super) structure: String,
    /// The names of struct fields from the root, without map keys and indexes.
    pub(super) fields: Vec<String>,
}

impl DecodeError {
    pub(super) fn mismatch(value: &Value, place: &GoPlace, schema: SchemaType<'_>) -> Self {
        let found = match value {
            Value::Number(number) if wants_integer(schema) => format!("number {number}"),
            other => describe(other).to_owned(),
        };
        let target = if place.is_uid() {
            "types.UID".to_owned()
        } else {
            go_type(schema)
        };
        let message = if place.fields.is_empty() {
            format!("json: cannot unmarshal {found} into Go value of type {target}")
        } else {
            format!(
                "json: cannot unmarshal {found} into Go struct field {}.{} of type {target}",
                place.structure,
                place.fields.join(".")
            )
        };
        Self { message }
    }

    pub(super) fn quantity() -> Self {
        let message = "quantities must match the regular expression \
                       '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
        Self {
            message: message.to_owned(),
        }
    }

    pub(super) fn time(text: &str) -> Self {
        let layout = "2006-01-02T15:04:05Z07:00";
        let message =
            format!("parsing time {text:?} as {layout:?}: cannot parse {text:?} as \"2006\"");
        Self { message }
    }

    pub(super) fn micro_time(text: &str, rest: &str) -> Self {
        let layout = "2006-01-02T15:04:05.000000Z07:00";
        let message =
            format!("parsing time {text:?} as {layout:?}: cannot parse {rest:?} as \".000000\"");
        Self { message }
    }

    pub(super) fn base64() -> Self {
        Self {
            message: "illegal base64 data at input byte 0".to_owned(),
        }
    }
}

impl GoPlace {
    /// Go has a type for uids, except for those of users.
    fn is_uid(&self) -> bool {
        let is_of_user = self.structure.ends_with("UserInfo") || self.structure.ends_with("Spec");
        self.fields.last().is_some_and(|field| field == "uid") && !is_of_user
    }

    pub(super) fn within(mut self, structure: &str, field: &str) -> Self {
        let name = structure.rsplit('.').next().unwrap_or_default();
        self.structure = name.to_owned();
        self.fields.push(field.to_owned());
        self
    }
}

fn wants_integer(schema: SchemaType<'_>) -> bool {
    matches!(
        schema.definition(),
        Type::Scalar(Scalar::Int32 | Scalar::Int64)
    )
}

fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn go_type(schema: SchemaType<'_>) -> String {
    match schema.definition() {
        Type::Scalar(scalar) => match scalar {
            Scalar::Bytes => "[]uint8",
            Scalar::Bool => "bool",
            Scalar::Int32 => "int32",
            Scalar::Int64 => "int64",
            Scalar::Float => "float64",
            Scalar::Text
            | Scalar::Time
            | Scalar::MicroTime
            | Scalar::Quantity
            | Scalar::IntOrString
            | Scalar::Any => "string",
        }
        .to_owned(),
        Type::List(list) => format!("[]{}", go_type(schema.at(list.item))),
        Type::Map(map) if !map.name.is_empty() => map.name.clone(),
        Type::Map(map) => match map.rest {
            Some(rest) => format!("map[string]{}", go_type(schema.at(rest))),
            None => "struct".to_owned(),
        },
        Type::Any(any) if any.scalar == Scalar::IntOrString => "string".to_owned(),
        Type::Any(_) => "interface {}".to_owned(),
    }
}
