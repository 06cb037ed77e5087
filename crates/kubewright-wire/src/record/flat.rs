//! The record: an object as one run of bytes.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::decode::NodeDeserializer;
use super::error::RecordError;
use super::field_hash::FieldHash;
use super::node::{Cursor, Node, Object};
use super::writer::Trailer;

/// One immutable object, as one run of bytes behind one pointer.
///
/// A clone shares the bytes. Metadata is read in place; [`Record::decode`] decodes the object into a
/// type, a projection (a struct with some of the fields) or a `serde_json::Value`.
#[derive(Clone)]
pub struct Record {
    /// The root node, then the trailer of [`write_trailer`].
    bytes: Arc<[u8]>,
}

impl Record {
    pub(super) fn from_encoded(bytes: Arc<[u8]>) -> Self {
        Self { bytes }
    }

    /// The object as a value of type `T`.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RecordError> {
        if self.is_stub() {
            return Err(RecordError::Stub);
        }
        self.read()
    }

    /// Whether the record has only metadata, because the object could not be read.
    pub fn is_stub(&self) -> bool {
        self.bytes.last().is_some_and(|flags| flags & IS_STUB != 0)
    }

    fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, RecordError> {
        T::deserialize(NodeDeserializer::new(Node::Object(self.root())))
    }

    /// The object as JSON; of a stub only the metadata.
    pub fn to_value(&self) -> Value {
        // The encoder writes only JSON, and all JSON is a valid `Value`.
        self.read().unwrap_or_default()
    }

    /// The fields of the object.
    pub fn root(&self) -> Object<'_> {
        // The encoder accepts only objects.
        let root = Cursor::new(&self.bytes).node().as_object();
        root.unwrap_or_default()
    }

    /// The value at a path such as `["spec", "nodeName"]`.
    pub fn field<'n>(&self, path: impl IntoIterator<Item = &'n str>) -> Option<Node<'_>> {
        let root = Node::Object(self.root());
        path.into_iter()
            .try_fold(root, |node, name| node.as_object()?.field(name))
    }

    /// The text at a dotted path such as `spec.nodeName`, for field selectors: numbers and booleans
    /// as JSON.
    pub fn selectable(&self, path: &str) -> Option<Cow<'_, str>> {
        match self.field(path.split('.'))? {
            Node::Text(text) => Some(text.into()),
            Node::Bool(true) => Some("true".into()),
            Node::Bool(false) => Some("false".into()),
            Node::Unsigned(number) => Some(number.to_string().into()),
            Node::Negative(number) => Some(number.to_string().into()),
            Node::Float(number) => Some(number.to_string().into()),
            Node::Null | Node::Object(_) | Node::Array(_) => None,
        }
    }

    /// The size of the record in bytes.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether both share the same bytes.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The hash of the fields that the encoder's field manager has applied, if any.
    pub fn field_hash(&self) -> Option<FieldHash> {
        let (rest, [flags]) = self.bytes.split_last_chunk()?;
        if flags & HAS_FIELD_HASH == 0 {
            return None;
        }
        let (rest, _metadata) = rest.split_last_chunk::<4>()?;
        let (_, hash) = rest.split_last_chunk()?;
        Some(FieldHash::from_bits(u64::from_le_bytes(*hash)))
    }

    /// The fields of `metadata`, without reading the fields before it.
    pub(super) fn metadata(&self) -> Option<Object<'_>> {
        let (rest, [flags]) = self.bytes.split_last_chunk()?;
        if flags & HAS_METADATA == 0 {
            return None;
        }
        let (_, offset) = rest.split_last_chunk()?;
        let offset = usize::try_from(u32::from_le_bytes(*offset)).ok()?;
        let at = Cursor::new(&self.bytes).content().get(offset..)?;
        Cursor::new(at).node().as_object()
    }
}

const HAS_METADATA: u8 = 1;
const HAS_FIELD_HASH: u8 = 2;
const IS_STUB: u8 = 4;

/// Writes the trailer after the nodes. From its end: flags, the offset of `metadata` in the root's
/// content, and the field hash, if any.
pub(super) fn write_trailer(out: &mut Vec<u8>, trailer: &Trailer) {
    let mut flags = if trailer.is_stub { IS_STUB } else { 0 };
    if let Some(hash) = trailer.field_hash {
        flags |= HAS_FIELD_HASH;
        out.extend(hash.bits().to_le_bytes());
    }
    let offset = trailer
        .metadata
        .and_then(|offset| u32::try_from(offset).ok());
    if offset.is_some() {
        flags |= HAS_METADATA;
    }
    out.extend(offset.unwrap_or_default().to_le_bytes());
    out.push(flags);
}

/// Equal records have equal fields in equal order, whatever their bytes.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || (self.is_stub() == other.is_stub() && self.root() == other.root())
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} at {})", self.key(), self.resource_version())
    }
}
