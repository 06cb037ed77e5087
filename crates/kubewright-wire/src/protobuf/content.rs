//! The parts of messages as JSON has them: fields, elements of lists, entries of maps.

use super::bytes::{Fields, Wire};
use super::error::ProtobufError;
use super::layout::{LaidField, Presence, Shape, Type};
use super::message::{Buffers, Message};
use super::special::text;

/// The bytes of a value.
#[derive(Clone, Copy)]
pub(super) enum Content<'b> {
    Null,
    Single(Wire<'b>),
    List(Fields<'b>),
    Map(Fields<'b>),
}

/// Iterates over the fields of a message that JSON has, in the order of JSON.
pub(super) struct MessageFields<'b> {
    message: Message<'b>,
    /// The index of this message's first span in the buffers.
    base: usize,
    next: Next,
}

/// The next field. An object begins with its type, which is not a field of its message.
#[derive(Clone, Copy)]
enum Next {
    Kind {
        api_version: &'static str,
        kind: &'static str,
    },
    ApiVersion(&'static str),
    Field(usize),
}

/// The value of a field.
#[derive(Clone, Copy)]
pub(super) enum FieldValue<'b> {
    /// `apiVersion` or `kind`.
    Text(&'static str),
    Content(LaidField, Content<'b>),
}

impl<'b> MessageFields<'b> {
    pub(super) fn open(message: Message<'b>, buffers: &mut Buffers) -> Result<Self, ProtobufError> {
        let base = buffers.spans.len();
        buffers.find(message)?;
        let next = match message.layout.kind() {
            Some((api_version, kind)) => Next::Kind { api_version, kind },
            None => Next::Field(0),
        };
        Ok(Self {
            message,
            base,
            next,
        })
    }

    /// The name and value of the next field.
    pub(super) fn next(
        &mut self,
        buffers: &Buffers,
    ) -> Result<Option<(&'static str, FieldValue<'b>)>, ProtobufError> {
        let mut index = match self.next {
            Next::Kind { api_version, kind } => {
                self.next = Next::ApiVersion(api_version);
                return Ok(Some(("kind", FieldValue::Text(kind))));
            }
            Next::ApiVersion(api_version) => {
                self.next = Next::Field(0);
                return Ok(Some(("apiVersion", FieldValue::Text(api_version))));
            }
            Next::Field(index) => index,
        };
        let fields = self.message.layout.fields();
        while let Some(bytes) = fields.get(index) {
            let field = self.message.layout.field(bytes);
            let content = self.content(field, index, buffers)?;
            index += 1;
            if let Some(content) = content {
                self.next = Next::Field(index);
                return Ok(Some((field.name(), FieldValue::Content(field, content))));
            }
        }
        self.next = Next::Field(index);
        Ok(None)
    }

    /// The value of a field in JSON; `None` when JSON omits the field.
    fn content(
        &self,
        field: LaidField,
        index: usize,
        buffers: &Buffers,
    ) -> Result<Option<Content<'b>>, ProtobufError> {
        let shape = field.shape();
        if shape == Shape::Inline {
            return Ok(None);
        }
        let spans = buffers.spans.get(self.base + index);
        let Some(span) = spans.and_then(|span| span.of(self.message.bytes)) else {
            return Ok(match field.presence() {
                Presence::WhenPresent | Presence::WhenNotZero => None,
                Presence::OrNull => Some(Content::Null),
                Presence::OrZero => Some(Content::Single(zero(field.kind()))),
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
        let is_omitted = field.presence() == Presence::WhenNotZero && wire.is_zero();
        Ok((!is_omitted).then_some(Content::Single(wire)))
    }
}

/// Iterates over the elements of a list, or of a message that JSON has as a list.
pub(super) struct Elements<'b> {
    kind: Type,
    fields: Fields<'b>,
    /// Only fields with this number are elements; it is the number of the first one.
    number: Option<u64>,
    /// The rest of the numbers that are packed in one field.
    packed: Option<Fields<'b>>,
}

impl<'b> Elements<'b> {
    pub(super) fn new(kind: Type, fields: Fields<'b>) -> Self {
        Self {
            kind,
            fields,
            number: None,
            packed: None,
        }
    }

    pub(super) fn kind(&self) -> Type {
        self.kind
    }

    pub(super) fn next(&mut self) -> Result<Option<Wire<'b>>, ProtobufError> {
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
            // Other fields may be between the first element and the last.
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

/// Iterates over the entries of a map: messages of a key and a value.
pub(super) struct Entries<'b> {
    kind: Type,
    fields: Fields<'b>,
    /// Only fields with this number are entries; it is the number of the first one.
    number: Option<u64>,
}

impl<'b> Entries<'b> {
    pub(super) fn new(kind: Type, fields: Fields<'b>) -> Self {
        Self {
            kind,
            fields,
            number: None,
        }
    }

    pub(super) fn kind(&self) -> Type {
        self.kind
    }

    pub(super) fn next(&mut self) -> Result<Option<(&'b str, Wire<'b>)>, ProtobufError> {
        let Some(entry) = self.next_entry()? else {
            return Ok(None);
        };
        let mut key = "";
        let mut value = zero(self.kind);
        let mut fields = Fields::new(entry);
        while let Some((number, wire)) = fields.next()? {
            match (number, wire) {
                (1, Wire::Bytes(bytes)) => key = text(bytes)?,
                (2, wire) => value = wire,
                _ => {}
            }
        }
        Ok(Some((key, value)))
    }

    fn next_entry(&mut self) -> Result<Option<&'b [u8]>, ProtobufError> {
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

/// The value of an absent field.
fn zero<'b>(kind: Type) -> Wire<'b> {
    match kind {
        Type::Bool | Type::Int => Wire::Varint(0),
        Type::Double => Wire::Fixed64(0),
        _ => Wire::Bytes(&[]),
    }
}
