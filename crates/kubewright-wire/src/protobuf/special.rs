use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::ProtobufError;
use super::bytes::{Fields, Wire};

/// A message that JSON writes as something else than an object; none where it is none of those.
pub(super) fn special(name: &str, bytes: &[u8]) -> Result<Option<Value>, ProtobufError> {
    let value = match name.rsplit('.').next().unwrap_or_default() {
        "Time" | "MicroTime" => time(bytes)?,
        "Quantity" => json!(text(first_bytes(bytes)?)?),
        "IntOrString" => match int_or_string(bytes)? {
            Ok(number) => json!(number),
            Err(words) => json!(text(words)?),
        },
        "RawExtension" | "FieldsV1" | "JSON" => raw(bytes)?,
        "ExtraValue" | "Verbs" => list(bytes)?,
        _ => return Ok(None),
    };
    Ok(Some(value))
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, ProtobufError> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::Utf8)
}

pub(super) fn base64(bytes: &[u8]) -> Value {
    json!(STANDARD.encode(bytes))
}

/// A number as Go's int32 and int64 are sent: two's complement in 64 bits.
pub(super) fn signed(varint: u64) -> i64 {
    i64::from_le_bytes(varint.to_le_bytes())
}

/// Nothing in it is the time that was never set.
fn time(bytes: &[u8]) -> Result<Value, ProtobufError> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanos) = seconds_and_nanos(bytes)?;
    let time = Timestamp::new(seconds, nanos).map_err(|_| ProtobufError::Time(seconds))?;
    Ok(json!(time.to_string()))
}

/// What a time is sent as.
pub(super) fn seconds_and_nanos(bytes: &[u8]) -> Result<(i64, i32), ProtobufError> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut fields = Fields::new(bytes);
    while let Some((number, wire)) = fields.next()? {
        match (number, wire) {
            (1, Wire::Varint(value)) => seconds = signed(value),
            (2, Wire::Varint(value)) => nanos = i32::try_from(signed(value)).unwrap_or_default(),
            _ => {}
        }
    }
    Ok((seconds, nanos))
}

/// The number, or else the words.
pub(super) fn int_or_string(bytes: &[u8]) -> Result<Result<i64, &[u8]>, ProtobufError> {
    let (mut is_text, mut number, mut words): (_, _, &[u8]) = (false, 0, &[]);
    let mut fields = Fields::new(bytes);
    while let Some((field, wire)) = fields.next()? {
        match (field, wire) {
            (1, Wire::Varint(value)) => is_text = value == 1,
            (2, Wire::Varint(value)) => number = signed(value),
            (3, Wire::Bytes(value)) => words = value,
            _ => {}
        }
    }
    Ok(match is_text {
        true => Err(words),
        false => Ok(number),
    })
}

/// JSON inside of protobuf.
fn raw(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let inside = first_bytes(bytes)?;
    match inside.is_empty() {
        true => Ok(Value::Null),
        false => serde_json::from_slice(inside).map_err(|_| ProtobufError::Raw),
    }
}

fn list(bytes: &[u8]) -> Result<Value, ProtobufError> {
    let mut items = Vec::new();
    let mut fields = Fields::new(bytes);
    while let Some((_, wire)) = fields.next()? {
        if let Wire::Bytes(item) = wire {
            items.push(json!(text(item)?));
        }
    }
    Ok(Value::Array(items))
}

/// What the first field holds: of messages that wrap one value.
pub(super) fn first_bytes(bytes: &[u8]) -> Result<&[u8], ProtobufError> {
    let mut fields = Fields::new(bytes);
    while let Some((number, wire)) = fields.next()? {
        if let (1, Wire::Bytes(inside)) = (number, wire) {
            return Ok(inside);
        }
    }
    Ok(&[])
}
