//! A message and where its fields are in its bytes.

use std::ops::Range;

use super::bytes::{Fields, Wire};
use super::error::{ProtobufError, UnknownField};
use super::layout::{Layout, Shape};

/// A message with its layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'b> {
    pub(super) layout: Layout,
    pub(super) bytes: &'b [u8],
    pub(super) extent: Extent,
}

/// Whether all bytes of a message are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    Beginning,
}

impl<'b> Message<'b> {
    pub(super) fn whole(layout: Layout, bytes: &'b [u8]) -> Self {
        Self {
            layout,
            bytes,
            extent: Extent::Whole,
        }
    }
}

/// What happens to fields that are not in the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum UnknownFields {
    /// They are skipped: a newer server may have sent them.
    #[default]
    Skip,
    /// They are an error, unless they are zero or empty.
    Reject,
}

/// Buffers for reading objects, which can be reused.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// The spans of the fields of the messages that are being read, the innermost message last.
    pub(super) spans: Vec<Span>,
    /// A text that is not in the bytes, such as a time.
    pub(super) text: String,
    unknown: UnknownFields,
}

/// The bytes of a field in its message, including its number; empty when the field is absent.
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

    /// Appends the spans of the fields of a message.
    pub(super) fn find(&mut self, message: Message<'_>) -> Result<(), ProtobufError> {
        let fields = message.layout.fields();
        let base = self.spans.len();
        self.spans.resize(base + fields.len(), Span::default());
        let mut finder = Finder {
            layout: message.layout,
            fields,
            spans: self.spans.get_mut(base..).unwrap_or_default(),
            unknown: self.unknown,
            next: 0,
        };
        match finder.part(0, message.bytes, 0) {
            Err(_) if message.extent == Extent::Beginning => Ok(()),
            found => found,
        }
    }
}

struct Finder<'s> {
    layout: Layout,
    fields: &'static [[u8; 8]],
    spans: &'s mut [Span],
    unknown: UnknownFields,
    /// The index of the field that was found last: the fields of a message are nearly in order.
    next: usize,
}

impl Finder<'_> {
    /// Finds the fields of the message, or of a part of it that is at `offset`.
    fn part(&mut self, part: u8, bytes: &[u8], offset: usize) -> Result<(), ProtobufError> {
        let mut content = Fields::new(bytes);
        loop {
            let start = offset + bytes.len() - content.left();
            let Some((number, wire)) = content.next()? else {
                return Ok(());
            };
            let end = offset + bytes.len() - content.left();
            let Some(index) = self.index(part, number) else {
                if self.unknown == UnknownFields::Reject && !wire.is_zero() {
                    let path = String::new();
                    return Err(ProtobufError::UnknownField(
                        UnknownField { path, number }.into(),
                    ));
                }
                continue;
            };
            let field = self.layout.field(&self.fields[index]);
            match (field.shape(), wire) {
                (Shape::Inline, Wire::Bytes(inside)) => {
                    self.part(field.part(), inside, end - inside.len())?;
                }
                (shape, _) => self.record(index, shape, start..end)?,
            }
        }
    }

    /// The last occurrence of a singular field counts; the span of a list or map reaches from its
    /// first element to its last.
    fn record(
        &mut self,
        index: usize,
        shape: Shape,
        range: Range<usize>,
    ) -> Result<(), ProtobufError> {
        let position = |at: usize| u32::try_from(at).map_err(|_| ProtobufError::Truncated);
        let (start, end) = (position(range.start)?, position(range.end)?);
        let span = &mut self.spans[index];
        let continues = span.end > 0 && matches!(shape, Shape::List | Shape::Map);
        *span = Span {
            start: if continues { span.start } else { start },
            end,
        };
        Ok(())
    }

    fn index(&mut self, part: u8, number: u64) -> Option<usize> {
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
