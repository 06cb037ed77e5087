//! Messages that JSON has as something else than objects.

use super::ProtobufError;
use super::bytes::{Fields, Wire};

pub(super) fn text(bytes: &[u8]) -> Result<&str, ProtobufError> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufError::Utf8)
}

/// A number as Go's int32 and int64 are sent: two's complement in 64 bits.
pub(super) fn signed(varint: u64) -> i64 {
    i64::from_le_bytes(varint.to_le_bytes())
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
