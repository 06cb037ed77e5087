use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::ProtobufError;
use super::access::{EntryAccess, ListAccess, MessageAccess, deeper, inner};
use super::bytes::{Fields, Wire};
use super::layout::Type;
use super::object::Buffers;
use super::special::{first_bytes, int_or_string, seconds_and_nanos, signed, text};

/// The value of one field.
pub(super) struct ValueReader<'s, 'b> {
    pub(super) buffers: &'s mut Buffers,
    pub(super) kind: Type,
    pub(super) content: Content<'b>,
    pub(super) depth: u8,
}

/// What stands in the bytes for a value.
#[derive(Clone, Copy)]
pub(super) enum Content<'b> {
    Null,
    One(Wire<'b>),
    List(Fields<'b>),
    Map(Fields<'b>),
}

impl<'s, 'b> ValueReader<'s, 'b> {
    fn one<V: Visitor<'b>>(self, wire: Wire<'b>, visitor: V) -> Result<V::Value, ProtobufError> {
        let bytes = match (self.kind, wire) {
            (Type::Bool, Wire::Varint(value)) => return visitor.visit_bool(value != 0),
            (Type::Int, Wire::Varint(value)) => return visitor.visit_i64(signed(value)),
            (Type::Double, Wire::Fixed64(value)) => {
                return number(f64::from_bits(value), &mut self.buffers.text, visitor);
            }
            (Type::Bool | Type::Int | Type::Double, _) => return Err(ProtobufError::Mismatch),
            (_, Wire::Bytes(bytes)) => bytes,
            _ => return Err(ProtobufError::Mismatch),
        };
        match self.kind {
            Type::Message(layout) => {
                MessageAccess::read(inner(layout, bytes), self.buffers, self.depth, visitor)
            }
            Type::Quantity => match first_bytes(bytes)? {
                b"" => visitor.visit_borrowed_str("0"),
                amount => told(amount, visitor),
            },
            Type::Bytes => {
                self.buffers.text.clear();
                STANDARD.encode_string(bytes, &mut self.buffers.text);
                visitor.visit_str(&self.buffers.text)
            }
            Type::Time | Type::MicroTime => self.time(bytes, visitor),
            Type::IntOrString => match int_or_string(bytes)? {
                Ok(number) => visitor.visit_i64(number),
                Err(words) => told(words, visitor),
            },
            Type::Raw => raw(bytes, visitor),
            Type::Texts => self.list(Type::Text, Fields::new(bytes), visitor),
            Type::SchemaOrSchemas(_) | Type::SchemaOrBool(_) | Type::SchemaOrTexts(_) => {
                self.schema(bytes, visitor)
            }
            _ => told(bytes, visitor),
        }
    }

    /// Nothing in it is the time that was never set.
    fn time<V: Visitor<'b>>(self, bytes: &'b [u8], visitor: V) -> Result<V::Value, ProtobufError> {
        if bytes.is_empty() {
            return visitor.visit_unit();
        }
        let (seconds, nanos) = seconds_and_nanos(bytes)?;
        let out = &mut self.buffers.text;
        out.clear();
        let (nanos, digits) = match self.kind {
            Type::MicroTime => (nanos, 6),
            _ => (0, 0),
        };
        let time = Timestamp::new(seconds, nanos).map_err(|_| ProtobufError::Time(seconds))?;
        write!(out, "{time:.digits$}").map_err(|_| ProtobufError::Time(seconds))?;
        visitor.visit_str(out)
    }

    /// What the definitions of custom resources have in place of a schema.
    fn schema<V: Visitor<'b>>(
        self,
        bytes: &'b [u8],
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        let (mut schema, mut list, mut is_allowed) = (None, None, false);
        let (of_schema, of_other) = match self.kind {
            Type::SchemaOrBool(_) => (2, 1),
            _ => (1, 2),
        };
        let mut fields = Fields::new(bytes);
        loop {
            let here = fields;
            let Some((number, wire)) = fields.next()? else {
                break;
            };
            match wire {
                Wire::Bytes(bytes) if number == of_schema => schema = Some(bytes),
                Wire::Bytes(_) if number == of_other => list = list.or(Some(here)),
                Wire::Varint(value) if number == of_other => is_allowed = value != 0,
                _ => {}
            }
        }
        match (self.kind, list, schema) {
            (Type::SchemaOrTexts(_), Some(list), _) => self.list(Type::Text, list, visitor),
            (Type::SchemaOrSchemas(layout), Some(list), _) => {
                self.list(Type::Message(layout), list, visitor)
            }
            (
                Type::SchemaOrSchemas(layout)
                | Type::SchemaOrTexts(layout)
                | Type::SchemaOrBool(layout),
                _,
                Some(bytes),
            ) => MessageAccess::read(inner(layout, bytes), self.buffers, self.depth, visitor),
            (Type::SchemaOrBool(_), ..) => visitor.visit_bool(is_allowed),
            _ => visitor.visit_unit(),
        }
    }

    fn list<V: Visitor<'b>>(
        self,
        kind: Type,
        fields: Fields<'b>,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        visitor.visit_seq(ListAccess {
            buffers: self.buffers,
            kind,
            fields,
            number: None,
            packed: None,
            depth: deeper(self.depth)?,
        })
    }

    /// Whether JSON has null here.
    fn is_null(&self) -> bool {
        match (self.content, self.kind) {
            (Content::Null, _) => true,
            (Content::One(Wire::Bytes(bytes)), Type::Time | Type::MicroTime) => bytes.is_empty(),
            (Content::One(Wire::Bytes(bytes)), Type::Raw) => {
                first_bytes(bytes).is_ok_and(<[u8]>::is_empty)
            }
            _ => false,
        }
    }
}

impl<'de> Deserializer<'de> for ValueReader<'_, 'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        let kind = self.kind;
        match self.content {
            Content::Null => visitor.visit_unit(),
            Content::One(wire) => self.one(wire, visitor),
            Content::List(fields) => self.list(kind, fields, visitor),
            Content::Map(fields) => visitor.visit_map(EntryAccess {
                buffers: self.buffers,
                kind,
                fields,
                number: None,
                value: Wire::Varint(0),
                depth: deeper(self.depth)?,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        match self.is_null() {
            true => visitor.visit_none(),
            false => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        match (self.kind, self.content) {
            (Type::Text, Content::One(Wire::Bytes(bytes))) => {
                visitor.visit_enum(BorrowedStrDeserializer::new(text(bytes)?))
            }
            _ => Err(ProtobufError::Mismatch),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct newtype_struct seq tuple tuple_struct map struct identifier
    }
}

fn told<'b, V: Visitor<'b>>(bytes: &'b [u8], visitor: V) -> Result<V::Value, ProtobufError> {
    match str::from_utf8(bytes) {
        Ok(text) => visitor.visit_borrowed_str(text),
        // As Go does when it writes JSON.
        Err(_) => visitor.visit_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Go writes whole numbers without a point, and JSON reads these as integers.
fn number<'b, V: Visitor<'b>>(
    value: f64,
    out: &mut String,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    out.clear();
    let written = write!(out, "{value}").ok().map(|()| out.as_str());
    let whole = |text: &str| text.parse::<u64>().ok();
    let negative = |text: &str| text.parse::<i64>().ok().filter(|number| *number != 0);
    if let Some(number) = written.and_then(whole) {
        return visitor.visit_u64(number);
    }
    match written.and_then(negative) {
        Some(number) => visitor.visit_i64(number),
        None => visitor.visit_f64(value),
    }
}

/// JSON inside of protobuf.
fn raw<'b, V: Visitor<'b>>(bytes: &'b [u8], visitor: V) -> Result<V::Value, ProtobufError> {
    let json = first_bytes(bytes)?;
    if json.is_empty() {
        return visitor.visit_unit();
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = reader.deserialize_any(visitor);
    let value = value.map_err(|_| ProtobufError::Raw)?;
    reader.end().map_err(|_| ProtobufError::Raw)?;
    Ok(value)
}
