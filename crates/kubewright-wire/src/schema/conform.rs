use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map as JsonMap, Number, Value};

use super::go_json::GoPlace;
use super::prune::{below, is_free};
use super::quantity::canonical;
use super::{DecodeError, Map, Scalar, SchemaType, Type, Written};

/// Makes an object of one of Kubernetes' own kinds what the API server would have read and
/// written back, and returns the paths of the fields it dropped because it does not know them.
///
/// Nulls count as absent, amounts and times are rewritten in their canonical form, fields that Go
/// leaves out when they are empty are gone, and those that it always writes are there
/// (`status: {}`, `resources: {}`). No default is filled in.
pub fn conform(value: &mut Value, schema: SchemaType<'_>) -> Result<Vec<String>, DecodeError> {
    let mut unknown = Vec::new();
    visit(value, schema, &Place::Object, &mut unknown)?;
    Ok(unknown)
}

/// Where a value stands; written out only when something is wrong there.
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
    /// With map keys and indexes, for warnings.
    fn path(&self) -> String {
        match self {
            Self::Object => String::new(),
            Self::Field(above, _, name) | Self::Entry(above, name) => below(&above.path(), name),
            Self::Item(above, index) => format!("{}[{index}]", above.path()),
        }
    }

    fn go(&self) -> GoPlace {
        match self {
            Self::Object => GoPlace::default(),
            Self::Field(above, structure, name) => above.go().within(structure, name),
            Self::Entry(above, _) | Self::Item(above, _) => above.go(),
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
            let item = schema.at(list.item);
            for (index, value) in items.iter_mut().enumerate() {
                zero_for_null(value, item);
                visit_unless_null(value, item, &Place::Item(place, index), unknown)?;
            }
            Ok(())
        }
        Type::Map(map) => {
            let Value::Object(fields) = value else {
                return Err(DecodeError::mismatch(value, &place.go(), schema));
            };
            visit_map(fields, map, schema, (place, unknown))
        }
    }
}

fn visit_unless_null(
    value: &mut Value,
    schema: SchemaType<'_>,
    place: &Place<'_>,
    unknown: &mut Vec<String>,
) -> Result<(), DecodeError> {
    match value.is_null() || is_free(schema) {
        true => Ok(()),
        false => visit(value, schema, place, unknown),
    }
}

fn visit_map(
    fields: &mut JsonMap<String, Value>,
    map: &Map,
    schema: SchemaType<'_>,
    (place, unknown): (&Place<'_>, &mut Vec<String>),
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
        let place = match map.fields.contains_key(name) {
            true => Place::Field(place, &map.name, name),
            false => {
                zero_for_null(value, entry);
                Place::Entry(place, name)
            }
        };
        visit_unless_null(value, entry, &place, unknown)?;
    }
    for (name, field) in &map.fields {
        let Some(value) = fields.get(name) else {
            if let Some(unset) = schema.unset(field) {
                fields.insert(name.clone(), unset);
            }
            continue;
        };
        // An empty list of owners asks to forget them all, and goes with the write.
        let is_left_out = field.written == Written::WhenNotZero && name != "managedFields";
        if is_left_out && is_zero(value) {
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

/// A null item or map entry is Go's zero value, unlike a null field, which is absent.
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
    let fits = match (scalar, &*value) {
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
    match fits {
        true => Ok(()),
        false => Err(DecodeError::mismatch(value, &place.go(), schema)),
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
        Scalar::Quantity => canonical(text.trim()).ok_or_else(DecodeError::quantity)?,
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

/// Microseconds are read only as they are written: with all six digits.
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

/// The time as Kubernetes writes it: whole seconds, cut, in UTC.
pub(crate) fn whole_seconds(time: Timestamp) -> String {
    let seconds = time.as_nanosecond().div_euclid(1_000_000_000);
    let cut = i64::try_from(seconds)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok());
    cut.unwrap_or(time).to_string()
}
