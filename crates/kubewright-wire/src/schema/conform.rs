//! Objects of Kubernetes' own kinds as the API server decodes and encodes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use kubewright_core::canonical_quantity;
use serde_json::{Map as JsonMap, Number, Value};

use super::go_json::{DecodeError, GoPlace};
use super::handle::SchemaType;
use super::prune::{below, is_free};
use super::types::{Map, Scalar, Type, Written};

/// Changes an object of one of Kubernetes' own kinds as if the API server had decoded and encoded
/// it, and returns the paths of the unknown fields that it dropped.
///
/// Nulls count as absent, quantities and times are rewritten in their canonical form, empty fields
/// with `omitempty` are dropped, and fields that Go always writes are added (`status: {}`,
/// `resources: {}`). No defaults are set.
pub fn conform(value: &mut Value, schema: SchemaType<'_>) -> Result<Vec<String>, DecodeError> {
    let mut unknown = Vec::new();
    visit(value, schema, &Place::Object, &mut unknown)?;
    Ok(unknown)
}

/// The path of a value, which is formatted only for errors and warnings.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    Object,
    /// A field of the named struct.
    Field(&'a Place<'a>, &'a str, &'a str),
    /// An entry of a map.
    Entry(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    /// The path with map keys and indexes, for warnings.
    fn path(&self) -> String {
        match self {
            Self::Object => String::new(),
            Self::Field(parent, _, name) | Self::Entry(parent, name) => below(&parent.path(), name),
            Self::Item(parent, index) => format!("{}[{index}]", parent.path()),
        }
    }

    fn go(&self) -> GoPlace {
        match self {
            Self::Object => GoPlace::default(),
            Self::Field(parent, structure, name) => parent.go().within(structure, name),
            Self::Entry(parent, _) | Self::Item(parent, _) => parent.go(),
        }
    }
}

fn visit(
    value: &mut Value,
    schema: SchemaType<'_>,
    place: &Place<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), DecodeError> {
    match schema.definition() {
        Type::Scalar(scalar) => conform_scalar(value, *scalar, schema, place),
        Type::Any(any) if any.scalar == Scalar::IntOrString => {
            conform_scalar(value, any.scalar, schema, place)
        }
        Type::Any(_) => Ok(()),
        Type::List(list) => {
            let Value::Array(items) = value else {
                return Err(DecodeError::mismatch(value, &place.go(), schema));
            };
            let item_type = schema.at(list.item);
            for (index, item) in items.iter_mut().enumerate() {
                zero_for_null(item, item_type);
                visit_unless_null(item, item_type, &Place::Item(place, index), unknown)?;
            }
            Ok(())
        }
        Type::Map(map) => {
            let Value::Object(fields) = value else {
                return Err(DecodeError::mismatch(value, &place.go(), schema));
            };
            visit_map(fields, map, schema, place, unknown)
        }
    }
}

fn visit_unless_null(
    value: &mut Value,
    schema: SchemaType<'_>,
    place: &Place<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), DecodeError> {
    if value.is_null() || is_free(schema) {
        return Ok(());
    }
    visit(value, schema, place, unknown)
}

fn visit_map(
    fields: &mut JsonMap<String, Value>,
    map: &Map,
    schema: SchemaType<'_>,
    place: &Place<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), DecodeError> {
    fields.retain(|name, value| {
        if map.fields.contains_key(name) {
            return !value.is_null();
        }
        if map.rest.is_none() {
            unknown.push(below(&place.path(), name));
        }
        map.rest.is_some()
    });
    for (name, value) in fields.iter_mut() {
        let Some(entry) = schema.field(name) else {
            continue;
        };
        let field_place = if map.fields.contains_key(name) {
            Place::Field(place, &map.name, name)
        } else {
            zero_for_null(value, entry);
            Place::Entry(place, name)
        };
        visit_unless_null(value, entry, &field_place, unknown)?;
    }
    for (name, field) in &map.fields {
        let Some(value) = fields.get(name) else {
            if let Some(unset) = schema.unset(field) {
                fields.insert(name.clone(), unset);
            }
            continue;
        };
        // An empty `managedFields` is a request to remove all entries.
        let is_omitted = field.written == Written::WhenNotZero && name != "managedFields";
        if is_omitted && is_zero(value) {
            fields.remove(name);
        }
    }
    Ok(())
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// A null item or map entry is Go's zero value, while a null field is absent.
fn zero_for_null(value: &mut Value, schema: SchemaType<'_>) {
    if !value.is_null() {
        return;
    }
    let is_map_without_name = schema.map().is_some_and(|map| map.name.is_empty());
    if !is_map_without_name {
        *value = schema.zero();
    }
}

fn conform_scalar(
    value: &mut Value,
    scalar: Scalar,
    schema: SchemaType<'_>,
    place: &Place<'_>,
) -> Result<(), DecodeError> {
    let is_valid = match (scalar, &*value) {
        (Scalar::Text, Value::String(_))
        | (Scalar::Bool, Value::Bool(_))
        | (Scalar::Float, Value::Number(_))
        | (Scalar::IntOrString, Value::String(_)) => true,
        (Scalar::Int64, Value::Number(number)) => number.is_i64(),
        (Scalar::Int32 | Scalar::IntOrString, Value::Number(number)) => is_int32(number),
        (Scalar::Any, value) => !value.is_object() && !value.is_array(),
        (Scalar::Quantity, Value::String(_) | Value::Number(_))
        | (Scalar::Time | Scalar::MicroTime | Scalar::Bytes, Value::String(_)) => {
            return rewrite(value, scalar);
        }
        _ => false,
    };
    if is_valid {
        Ok(())
    } else {
        Err(DecodeError::mismatch(value, &place.go(), schema))
    }
}

fn is_int32(number: &Number) -> bool {
    number
        .as_i64()
        .is_some_and(|number| i32::try_from(number).is_ok())
}

fn rewrite(value: &mut Value, scalar: Scalar) -> Result<(), DecodeError> {
    let text = match &*value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let rewritten = match scalar {
        Scalar::Quantity => canonical_quantity(text.trim()).ok_or_else(DecodeError::quantity)?,
        Scalar::Bytes => match STANDARD.decode(&text) {
            Ok(_) => text,
            Err(_) => return Err(DecodeError::base64()),
        },
        Scalar::MicroTime => {
            let time = parse_micro_time(&text)?;
            format!("{time:.6}")
        }
        _ => whole_seconds(text.parse().map_err(|_| DecodeError::time(&text))?),
    };
    *value = Value::String(rewritten);
    Ok(())
}

/// Go parses a MicroTime only with all six digits.
fn parse_micro_time(text: &str) -> Result<Timestamp, DecodeError> {
    let time: Timestamp = text.parse().map_err(|_| DecodeError::time(text))?;
    let (_, after_seconds) = text
        .split_at_checked("2006-01-02T15:04:05".len())
        .unwrap_or_default();
    let digits = after_seconds.strip_prefix('.').unwrap_or_default();
    let count = digits.chars().take_while(char::is_ascii_digit).count();
    match count {
        6 => Ok(time),
        _ => Err(DecodeError::micro_time(text, after_seconds)),
    }
}

/// The time as Kubernetes writes it: truncated to seconds, in UTC.
pub(crate) fn whole_seconds(time: Timestamp) -> String {
    let seconds = time.as_nanosecond().div_euclid(1_000_000_000);
    let truncated = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    truncated.unwrap_or(time).to_string()
}
