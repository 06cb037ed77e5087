//! Objects in protobuf as a source for serde.

use serde::de::{Deserialize as _, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::error::ProtobufError;
use super::layout::Layout;
use super::message::{Buffers, Extent, Message};
use super::value::read_message;

/// An object in protobuf, which serde reads as the JSON that Go would have written, with its fields
/// in the same order.
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
pub struct ProtobufObject<'b>(Message<'b>);

impl<'b> ProtobufObject<'b> {
    /// The object of these bytes.
    pub fn new(layout: Layout, bytes: &'b [u8]) -> Self {
        Self(Message::whole(layout, bytes))
    }

    /// An object of which only the beginning is available: incomplete fields and all that follows
    /// are omitted.
    pub fn beginning(layout: Layout, bytes: &'b [u8]) -> Self {
        Self(Message {
            layout,
            bytes,
            extent: Extent::Beginning,
        })
    }

    /// The object in JSON, for readers that are rarely used: they need not be compiled for protobuf
    /// too.
    pub fn to_json(self) -> Result<Vec<u8>, ProtobufError> {
        let value = Value::deserialize(self)?;
        serde_json::to_vec(&value).map_err(|_| ProtobufError::Raw)
    }

    /// Reads the object with buffers that can be reused.
    pub(crate) fn with(self, buffers: &mut Buffers) -> Buffered<'_, 'b> {
        Buffered {
            object: self,
            buffers,
        }
    }
}

/// An object and the buffers for reading it.
pub(crate) struct Buffered<'s, 'b> {
    object: ProtobufObject<'b>,
    buffers: &'s mut Buffers,
}

impl<'de> Deserializer<'de> for Buffered<'_, 'de> {
    type Error = ProtobufError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ProtobufError> {
        // A failed read leaves its spans.
        self.buffers.spans.clear();
        read_message(self.object.0, self.buffers, 0, visitor)
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
