//! Messages that are not objects in JSON: times, quantities, int-or-string.

use super::bytes::{Fields, Wire};
use super::error::ProtobufError;

pub(super) fn text(bytes: &[u8]) -> Result<&str, ProtobufError> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::Utf8)
}

/// An int32 or int64: two's complement in 64 bits.
pub(super) fn signed(varint: u64) -> i64 {
    i64::from_le_bytes(varint.to_le_bytes())
}

/// The parts of a time.
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

/// The value of an int-or-string.
pub(super) enum IntOrString<'b> {
    Int(i64),
    Text(&'b [u8]),
}

pub(super) fn int_or_string(bytes: &[u8]) -> Result<IntOrString<'_>, ProtobufError> {
    let (mut is_text, mut number, mut text): (_, _, &[u8]) = (false, 0, &[]);
    let mut fields = Fields::new(bytes);
    while let Some((field, wire)) = fields.next()? {
        match (field, wire) {
            (1, Wire::Varint(value)) => is_text = value == 1,
            (2, Wire::Varint(value)) => number = signed(value),
            (3, Wire::Bytes(value)) => text = value,
            _ => {}
        }
    }
    Ok(if is_text {
        IntOrString::Text(text)
    } else {
        IntOrString::Int(number)
    })
}

/// The first field of a message that wraps one value.
pub(super) fn first_bytes(bytes: &[u8]) -> Result<&[u8], ProtobufError> {
    let mut fields = Fields::new(bytes);
    while let Some((number, wire)) = fields.next()? {
        if let (1, Wire::Bytes(inside)) = (number, wire) {
            return Ok(inside);
        }
    }
    Ok(&[])
}
