use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::bytes::{Fields, Wire};
use super::layout::{LaidField, Presence, Shape, Type};
use super::object::{Buffers, DEEPEST, Extent, ProtobufObject};
use super::special::text;
use super::value::{Content, ValueReader};
use super::{Layout, ProtobufError};

/// The fields of a message, as JSON has them.
pub(super) struct MessageAccess<'s, 'b> {
    buffers: &'s mut Buffers,
    object: ProtobufObject<'b>,
    /// Where the spans of this message begin.
    base: usize,
    /// Which field comes next; the two that say what kind the object is come before all.
    next: Next,
    depth: u8,
    value: Option<Told<'b>>,
}

#[derive(Clone, Copy)]
enum Next {
    Kind(&'static str, &'static str),
    ApiVersion(&'static str),
    Field(usize),
}

/// The value of the key that was told last.
enum Told<'b> {
    Known(&'static str),
    Read(LaidField, Content<'b>),
}

impl<'s, 'b> MessageAccess<'s, 'b> {
    pub(super) fn read<V: Visitor<'b>>(
        object: ProtobufObject<'b>,
        buffers: &'s mut Buffers,
        depth: u8,
        visitor: V,
    ) -> Result<V::Value, ProtobufError> {
        let base = buffers.spans.len();
        buffers.find(object)?;
        let next = match object.layout.kind() {
            Some((api_version, kind)) => Next::Kind(api_version, kind),
            None => Next::Field(0),
        };
        let value = visitor.visit_map(MessageAccess {
            buffers: &mut *buffers,
            object,
            base,
            next,
            depth: deeper(depth)?,
            value: None,
        })?;
        buffers.spans.truncate(base);
        Ok(value)
    }

    /// What JSON has for a field; none where it leaves the field out.
    fn content(
        &self,
        field: LaidField,
        place: usize,
    ) -> Result<Option<Content<'b>>, ProtobufError> {
        let shape = field.shape();
        if shape == Shape::Inline {
            return Ok(None);
        }
        let spans = self.buffers.spans.get(self.base + place);
        let Some(span) = spans.and_then(|span| span.of(self.object.bytes)) else {
            return Ok(match field.presence() {
                Presence::WhenPresent | Presence::WhenNotZero => None,
                Presence::OrNull => Some(Content::Null),
                Presence::OrZero => Some(Content::One(zero(field.kind()))),
            });
        };
        if shape != Shape::One {
            let fields = Fields::new(span);
            return Ok(Some(match shape {
                Shape::Map => Content::Map(fields),
                _ => Content::List(fields),
            }));
        }
        let Some((_, wire)) = Fields::new(span).next()? else {
            return Ok(None);
        };
        let is_left_out = field.presence() == Presence::WhenNotZero && is_zero(wire);
        Ok((!is_left_out).then_some(Content::One(wire)))
    }
}

impl<'b> MapAccess<'b> for MessageAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ProtobufError> {
        let key = |name| {
            seed.deserialize(BorrowedStrDeserializer::new(name))
                .map(Some)
        };
        let mut place = match self.next {
            Next::Kind(api_version, kind) => {
                self.next = Next::ApiVersion(api_version);
                self.value = Some(Told::Known(kind));
                return key("kind");
            }
            Next::ApiVersion(api_version) => {
                self.next = Next::Field(0);
                self.value = Some(Told::Known(api_version));
                return key("apiVersion");
            }
            Next::Field(place) => place,
        };
        let fields = self.object.layout.fields();
        while let Some(bytes) = fields.get(place) {
            let field = self.object.layout.field(bytes);
            let content = self.content(field, place)?;
            place += 1;
            if let Some(content) = content {
                self.next = Next::Field(place);
                self.value = Some(Told::Read(field, content));
                return key(field.name());
            }
        }
        self.next = Next::Field(place);
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ProtobufError> {
        match self.value.take() {
            Some(Told::Known(text)) => seed.deserialize(BorrowedStrDeserializer::new(text)),
            Some(Told::Read(field, content)) => {
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

/// The elements of a list, or of what JSON has as one.
pub(super) struct ListAccess<'s, 'b> {
    pub(super) buffers: &'s mut Buffers,
    pub(super) kind: Type,
    pub(super) fields: Fields<'b>,
    /// Only the fields of this number; none means that of the first one.
    pub(super) number: Option<u64>,
    /// What is left of numbers that stand in one field.
    pub(super) packed: Option<Fields<'b>>,
    pub(super) depth: u8,
}

impl<'b> ListAccess<'_, 'b> {
    fn next(&mut self) -> Result<Option<Wire<'b>>, ProtobufError> {
        loop {
            if let Some(packed) = &mut self.packed {
                if let Some(number) = packed.next_packed()? {
                    return Ok(Some(Wire::Varint(number)));
                }
                self.packed = None;
            }
            let Some((number, wire)) = self.fields.next()? else {
                return Ok(None);
            };
            // Others may stand between the first element and the last.
            if *self.number.get_or_insert(number) != number {
                continue;
            }
            match (self.kind, wire) {
                (Type::Bool | Type::Int, Wire::Bytes(bytes)) => {
                    self.packed = Some(Fields::new(bytes));
                }
                _ => return Ok(Some(wire)),
            }
        }
    }
}

impl<'b> SeqAccess<'b> for ListAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_element_seed<T: DeserializeSeed<'b>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ProtobufError> {
        let Some(wire) = self.next()? else {
            return Ok(None);
        };
        let element = ValueReader {
            buffers: &mut *self.buffers,
            kind: self.kind,
            content: Content::One(wire),
            depth: self.depth,
        };
        seed.deserialize(element).map(Some)
    }
}

/// The entries of a map: messages of a key and a value.
pub(super) struct EntryAccess<'s, 'b> {
    pub(super) buffers: &'s mut Buffers,
    pub(super) kind: Type,
    pub(super) fields: Fields<'b>,
    pub(super) number: Option<u64>,
    /// The value of the key that was told last.
    pub(super) value: Wire<'b>,
    pub(super) depth: u8,
}

impl<'b> EntryAccess<'_, 'b> {
    fn next(&mut self) -> Result<Option<&'b [u8]>, ProtobufError> {
        while let Some((number, wire)) = self.fields.next()? {
            if let Wire::Bytes(entry) = wire
                && *self.number.get_or_insert(number) == number
            {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

impl<'b> MapAccess<'b> for EntryAccess<'_, 'b> {
    type Error = ProtobufError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ProtobufError> {
        let Some(entry) = self.next()? else {
            return Ok(None);
        };
        let mut key = "";
        self.value = zero(self.kind);
        let mut fields = Fields::new(entry);
        while let Some((number, wire)) = fields.next()? {
            match (number, wire) {
                (1, Wire::Bytes(bytes)) => key = text(bytes)?,
                (2, wire) => self.value = wire,
                _ => {}
            }
        }
        seed.deserialize(BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ProtobufError> {
        seed.deserialize(ValueReader {
            buffers: &mut *self.buffers,
            kind: self.kind,
            content: Content::One(self.value),
            depth: self.depth,
        })
    }
}

/// A message within another.
pub(super) fn inner(layout: Layout, bytes: &[u8]) -> ProtobufObject<'_> {
    ProtobufObject {
        layout,
        bytes,
        extent: Extent::Whole,
    }
}

pub(super) fn deeper(depth: u8) -> Result<u8, ProtobufError> {
    match depth < DEEPEST {
        true => Ok(depth + 1),
        false => Err(ProtobufError::Deep),
    }
}

/// What a message that lacks a field would have for it.
fn zero<'b>(kind: Type) -> Wire<'b> {
    match kind {
        Type::Bool | Type::Int => Wire::Varint(0),
        Type::Double => Wire::Fixed64(0),
        _ => Wire::Bytes(&[]),
    }
}

/// Of structs only times are left out when they are zero, and those are empty then.
pub(super) fn is_zero(wire: Wire<'_>) -> bool {
    match wire {
        Wire::Varint(value) | Wire::Fixed64(value) => value == 0,
        Wire::Fixed32(value) => value == 0,
        Wire::Bytes(bytes) => bytes.is_empty(),
    }
}
