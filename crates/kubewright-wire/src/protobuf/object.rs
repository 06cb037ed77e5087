use serde::de::{Deserialize as _, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::access::{MessageAccess, is_zero};
use super::bytes::{Fields, Wire};
use super::layout::Shape;
use super::{Layout, ProtobufError, UnknownField};

/// As deep as JSON is read.
pub(super) const DEEPEST: u8 = 127;

/// One object in protobuf, which serde reads as the JSON that Go would have written: the same
/// fields in the same order.
///
/// ```
/// # #[cfg(feature = "layouts")] {
/// use kubewright_core::Kind;
/// use kubewright_wire::protobuf::{Layouts, ProtobufObject};
/// use serde::Deserialize as _;
/// use serde_json::{Value, json};
///
/// let layout = Layouts::builtin().of_kind(&Kind::new("", "v1", "ConfigMap")).unwrap();
/// let bytes = [&[0x12, 8][..], &[10, 1, b'k', 18, 3, b'v', b'a', b'l']].concat();
/// let value = Value::deserialize(ProtobufObject::new(layout, &bytes)).unwrap();
/// assert_eq!(value["data"], json!({"k": "val"}));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ProtobufObject<'b> {
    pub(super) layout: Layout,
    pub(super) bytes: &'b [u8],
    pub(super) extent: Extent,
}

/// Whether all bytes of an object are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Beginning,
}

impl<'b> ProtobufObject<'b> {
    /// The object of these bytes.
    pub fn new(layout: Layout, bytes: &'b [u8]) -> Self {
        Self {
            layout,
            bytes,
            extent: Extent::Whole,
        }
    }

    /// An object of which these bytes are the beginning: fields that are not whole are left out,
    /// and so is all that follows.
    pub fn beginning(layout: Layout, bytes: &'b [u8]) -> Self {
        Self {
            extent: Extent::Beginning,
            ..Self::new(layout, bytes)
        }
    }

    /// The object in JSON, for readers that are seldom needed: they need not be compiled for
    /// protobuf, too.
    pub fn to_json(self) -> Result<Vec<u8>, ProtobufError> {
        let value = Value::deserialize(self)?;
        serde_json::to_vec(&value).map_err(|_| ProtobufError::Raw)
    }

    /// The same, read with buffers that outlive it.
    pub(crate) fn with(self, buffers: &mut Buffers) -> Buffered<'_, 'b> {
        Buffered {
            object: self,
            buffers,
        }
    }
}

/// What becomes of fields that a message does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UnknownFields {
    /// They are skipped: a newer server may have sent them.
    #[default]
    Skip,
    /// They are an error, unless they hold nothing.
    Reject,
}

/// What is needed while an object is read.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Where the fields of the messages stand that are being read, the innermost last.
    pub(super) spans: Vec<Span>,
    /// A text that does not stand in the bytes, such as a time.
    pub(super) text: String,
    unknown: UnknownFields,
}

/// Where in a message a field stands, its number included; nowhere when it is empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        let (start, end) = (
            usize::try_from(self.start).ok()?,
            usize::try_from(self.end).ok()?,
        );
        bytes.get(start..end).filter(|span| !span.is_empty())
    }
}

impl Buffers {
    pub(super) fn new(unknown: UnknownFields) -> Self {
        Self {
            unknown,
            ..Self::default()
        }
    }

    /// Finds the fields of a message; their spans are the last ones.
    pub(super) fn find(&mut self, object: ProtobufObject<'_>) -> Result<(), ProtobufError> {
        let fields = object.layout.fields();
        let base = self.spans.len();
        self.spans.resize(base + fields.len(), Span::default());
        let mut finder = Finder {
            layout: object.layout,
            fields,
            spans: self.spans.get_mut(base..).unwrap_or_default(),
            unknown: self.unknown,
            next: 0,
        };
        match finder.part(0, object.bytes, 0) {
            Err(_) if object.extent == Extent::Beginning => Ok(()),
            found => found,
        }
    }
}

struct Finder<'s> {
    layout: Layout,
    fields: &'static [[u8; 8]],
    spans: &'s mut [Span],
    unknown: UnknownFields,
    /// The place behind the field that was found last: messages are nearly in order.
    next: usize,
}

impl Finder<'_> {
    /// Goes through the message, or a part of it that stands at `offset`.
    fn part(&mut self, part: u8, bytes: &[u8], offset: usize) -> Result<(), ProtobufError> {
        let mut content = Fields::new(bytes);
        loop {
            let start = offset + bytes.len() - content.left();
            let Some((number, wire)) = content.next()? else {
                return Ok(());
            };
            let end = offset + bytes.len() - content.left();
            let Some(place) = self.place(part, number) else {
                if self.unknown == UnknownFields::Reject && !is_zero(wire) {
                    let path = String::new();
                    return Err(ProtobufError::UnknownField(
                        UnknownField { path, number }.into(),
                    ));
                }
                continue;
            };
            let field = self.layout.field(&self.fields[place]);
            match (field.shape(), wire) {
                (Shape::Inline, Wire::Bytes(inside)) => {
                    self.part(field.part(), inside, end - inside.len())?;
                }
                (shape, _) => self.note(place, shape, start..end)?,
            }
        }
    }

    /// Of a field that may stand once the last counts; lists and maps reach from their first
    /// element to their last.
    fn note(
        &mut self,
        place: usize,
        shape: Shape,
        at: std::ops::Range<usize>,
    ) -> Result<(), ProtobufError> {
        let position = |at: usize| u32::try_from(at).map_err(|_| ProtobufError::Truncated);
        let (start, end) = (position(at.start)?, position(at.end)?);
        let span = &mut self.spans[place];
        let goes_on = span.end > 0 && matches!(shape, Shape::List | Shape::Map);
        *span = Span {
            start: if goes_on { span.start } else { start },
            end,
        };
        Ok(())
    }

    fn place(&mut self, part: u8, number: u64) -> Option<usize> {
        let wanted = [u8::try_from(number).ok()?, part];
        let is_wanted = |bytes: &[u8; 8]| bytes[..2] == wanted;
        let (before, after) = self.fields.split_at(self.next);
        let found = match after.iter().position(is_wanted) {
            Some(place) => self.next + place,
            None => before.iter().position(is_wanted)?,
        };
        // Elements of a list follow each other.
        self.next = found;
        Some(found)
    }
}

/// An object and the buffers that it is read with.
pub(crate) struct Buffered<'s, 'b> {
    object: ProtobufObject<'b>,
    buffers: &'s mut Buffers,
}

impl<'de> Deserializer<'de> for Buffered<'_, 'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        // A reader that failed has left its own behind.
        self.buffers.spans.clear();
        MessageAccess::read(self.object, self.buffers, 0, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

impl<'de> Deserializer<'de> for ProtobufObject<'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        self.with(&mut Buffers::default()).deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}
