//! Deserialization of messages and their values.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::bytes::{Fields, Wire};
use super::content::{Content, Elements, Entries, FieldValue, MessageFields};
use super::error::ProtobufError;
use super::layout::Type;
use super::message::{Buffers, Message};
use super::special::{IntOrString, first_bytes, int_or_string, seconds_and_nanos, signed, text};

/// The deepest nesting, as for JSON.
const MAX_DEPTH: u8 = 127;

/// Reads a message as a map.
pub(super) fn read_message<'b, V: Visitor<'b>>(
    message: Message<'b>,
    buffers: &mut Buffers,
    depth: u8,
    visitor: V,
) -> Result<V::Value, ProtobufError> {
    let base = buffers.spans.len();
    let fields = MessageFields::open(message, buffers)?;
    let value = visitor.visit_map(MessageAccess {
        buffers: &mut *buffers,
        fields,
        depth: deeper(depth)?,
        value: None,
    })?;
    buffers.spans.truncate(base);
    Ok(value)
}

fn deeper(depth: u8) -> Result<u8, ProtobufError> {
    if depth < MAX_DEPTH {
        Ok(depth + 1)
    } else {
        Err(ProtobufError::Deep)
    }
}

/// The fields of a message.
struct MessageAccess<'s, 'b> {
    buffers: &'s mut Buffers,
    fields: MessageFields<'b>,
    depth: u8,
    /// The value of the last key.
    value: Option<FieldValue<'b>>,
}

impl<'b> MapAccess<'b> for MessageAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ProtobufError> {
        let Some((name, value)) = self.fields.next(self.buffers)? else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ProtobufError> {
        match self.value.take() {
            Some(FieldValue::Text(text)) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Some(FieldValue::Content(field, content)) => {
                let value = seed.deserialize(ValueReader {
                    buffers: &mut *self.buffers,
                    kind: field.kind(),
                    content,
                    depth: self.depth,
                });
                value.map_err(|error| error.within(field.name()))
            }
            None => Err(ProtobufError::Truncated),
        }
    }
}

/// The elements of a list.
struct ListAccess<'s, 'b> {
    buffers: &'s mut Buffers,
    elements: Elements<'b>,
    depth: u8,
}

impl<'b> SeqAccess<'b> for ListAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_element_seed<T: DeserializeSeed<'b>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ProtobufError> {
        let Some(wire) = self.elements.next()? else {
            return Ok(None);
        };
        let element = ValueReader {
            buffers: &mut *self.buffers,
            kind: self.elements.kind(),
            content: Content::Single(wire),
            depth: self.depth,
        };
        seed.deserialize(element).map(Some)
    }
}

/// The entries of a map.
struct EntryAccess<'s, 'b> {
    buffers: &'s mut Buffers,
    entries: Entries<'b>,
    /// The value of the last key.
    value: Wire<'b>,
    depth: u8,
}

impl<'b> MapAccess<'b> for EntryAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ProtobufError> {
        let Some((key, value)) = self.entries.next()? else {
            return Ok(None);
        };
        self.value = value;
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ProtobufError> {
        seed.deserialize(ValueReader {
            buffers: &mut *self.buffers,
            kind: self.entries.kind(),
            content: Content::Single(self.value),
            depth: self.depth,
        })
    }
}

/// The value of one field.
struct ValueReader<'s, 'b> {
    buffers: &'s mut Buffers,
    kind: Type,
    content: Content<'b>,
    depth: u8,
}

impl<'s, 'b> ValueReader<'s, 'b> {
    fn single<V: Visitor<'b>>(self, wire: Wire<'b>, visitor: V) -> Result<V::Value, ProtobufError> {
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
            Type::Message(layout) => read_message(
                Message::whole(layout, bytes),
                self.buffers,
                self.depth,
                visitor,
            ),
            Type::Quantity => match first_bytes(bytes)? {
                b"" => visitor.visit_borrowed_str("0"),
                amount => visit_text(amount, visitor),
            },
            Type::Bytes => {
                self.buffers.text.clear();
                STANDARD.encode_string(bytes, &mut self.buffers.text);
                visitor.visit_str(&self.buffers.text)
            }
            Type::Time | Type::MicroTime => self.time(bytes, visitor),
            Type::IntOrString => match int_or_string(bytes)? {
                IntOrString::Int(number) => visitor.visit_i64(number),
                IntOrString::Text(text) => visit_text(text, visitor),
            },
            Type::Raw => raw(bytes, visitor),
            Type::Texts => self.list(Type::Text, Fields::new(bytes), visitor),
            Type::SchemaOrSchemas(_) | Type::SchemaOrBool(_) | Type::SchemaOrTexts(_) => {
                self.schema(bytes, visitor)
            }
            _ => visit_text(bytes, visitor),
        }
    }

    /// An empty message is a time that was never set.
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

    /// A schema, or its alternative, in CustomResourceDefinitions.
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
            ) => read_message(
                Message::whole(layout, bytes),
                self.buffers,
                self.depth,
                visitor,
            ),
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
            elements: Elements::new(kind, fields),
            depth: deeper(self.depth)?,
        })
    }

    /// Whether the value is null in JSON.
    fn is_null(&self) -> bool {
        match (self.content, self.kind) {
            (Content::Null, _) => true,
            (Content::Single(Wire::Bytes(bytes)), Type::Time | Type::MicroTime) => bytes.is_empty(),
            (Content::Single(Wire::Bytes(bytes)), Type::Raw) => {
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
            Content::Single(wire) => self.single(wire, visitor),
            Content::List(fields) => self.list(kind, fields, visitor),
            Content::Map(fields) => visitor.visit_map(EntryAccess {
                buffers: self.buffers,
                entries: Entries::new(kind, fields),
                value: Wire::Varint(0),
                depth: deeper(self.depth)?,
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        match (self.kind, self.content) {
            (Type::Text, Content::Single(Wire::Bytes(bytes))) => {
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

fn visit_text<'b, V: Visitor<'b>>(bytes: &'b [u8], visitor: V) -> Result<V::Value, ProtobufError> {
    match str::from_utf8(bytes) {
        Ok(text) => visitor.visit_borrowed_str(text),
        // Go replaces invalid UTF-8 when it writes JSON.
        Err(_) => visitor.visit_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Go writes integral numbers without a decimal point, which JSON readers read as integers.
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

/// JSON within protobuf.
fn raw<'b, V: Visitor<'b>>(bytes: &'b [u8], visitor: V) -> Result<V::Value, ProtobufError> {
    let json = first_bytes(bytes)?;
    if json.is_empty() {
        return visitor.visit_unit();
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = reader
        .deserialize_any(visitor)
        .map_err(|_| ProtobufError::Raw)?;
    reader.end().map_err(|_| ProtobufError::Raw)?;
    Ok(value)
}
