//! The encoder of records.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::dictionary;
use super::error::RecordError;
use super::field_hash::ManagedFieldsSeed;
use super::field_tree::FieldTree;
use super::flat::{self, Record};
use super::node::tag;
use super::options::EncoderOptions;
use super::stub::Stub;
use super::writer::{Trailer, Writer};
use crate::protobuf::Buffers;

/// Encodes objects from JSON or protobuf as records, with reused buffers.
///
/// ```
/// use kubewright_wire::record::{Encoder, EncoderOptions};
///
/// let mut encoder = Encoder::new(EncoderOptions::default());
/// let record = encoder.encode(br#"{"metadata":{"name":"web","uid":"7"}}"#)?;
/// assert_eq!((record.name(), record.uid()), ("web", "7"));
/// # Ok::<(), kubewright_wire::record::RecordError>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    options: EncoderOptions,
    fields: FieldTree,
    buffer: Vec<u8>,
    /// The buffers for objects in protobuf.
    pub(super) buffers: Buffers,
}

impl Record {
    /// The record of the JSON object in `json`, with the encoder's defaults.
    pub fn from_json(json: &[u8]) -> Result<Self, RecordError> {
        Encoder::new(EncoderOptions::default()).encode(json)
    }

    /// The record of an object, with the encoder's defaults.
    pub fn from_value(value: &Value) -> Result<Self, RecordError> {
        Encoder::new(EncoderOptions::default()).encode_value(value)
    }
}

/// A larger buffer is freed after the object that needed it.
const MAX_REUSED_BUFFER: usize = 1 << 18;

impl Encoder {
    /// An encoder with these options.
    pub fn new(options: EncoderOptions) -> Self {
        Self {
            options,
            fields: FieldTree::Whole,
            buffer: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    /// Encodes only these fields besides `apiVersion` and `kind`.
    #[must_use]
    pub fn keeping(self, fields: FieldTree) -> Self {
        Self { fields, ..self }
    }

    /// The record of the JSON object in `json`.
    pub fn encode(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let trailer = self.write(&mut deserializer).map_err(RecordError::Parse)?;
        deserializer.end().map_err(RecordError::Parse)?;
        self.finish(&trailer)
    }

    /// A record with only the metadata, for JSON that [`Encoder::encode`] cannot read. It can be used
    /// like any other, except for [`Record::decode`], which fails.
    pub fn encode_stub(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let stub: Stub = serde_json::from_slice(json).map_err(RecordError::Parse)?;
        self.finish_stub(&stub)
    }

    /// A record with only the metadata, for a truncated object.
    pub fn encode_beginning(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let stub = Stub::of_beginning(json).ok_or(RecordError::Oversized { read: json.len() })?;
        self.finish_stub(&stub)
    }

    fn finish_stub(&mut self, stub: &Stub) -> Result<Record, RecordError> {
        let value = serde_json::to_value(stub).map_err(RecordError::Parse)?;
        let trailer = self.write(&value).map_err(RecordError::Parse)?;
        self.finish(&Trailer {
            is_stub: true,
            ..trailer
        })
    }

    /// The record of an object.
    pub fn encode_value(&mut self, value: &Value) -> Result<Record, RecordError> {
        let trailer = self.write(value).map_err(RecordError::Parse)?;
        self.finish(&trailer)
    }

    /// The record of a changed object, with the field hash of `former`, the record before the
    /// change.
    pub fn encode_changed(
        &mut self,
        former: &Record,
        value: &Value,
    ) -> Result<Record, RecordError> {
        let trailer = self.write(value).map_err(RecordError::Parse)?;
        self.finish(&Trailer {
            field_hash: former.field_hash(),
            ..trailer
        })
    }

    pub(super) fn write<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
    ) -> Result<Trailer, D::Error> {
        self.buffer.clear();
        let mut writer = Writer {
            out: &mut self.buffer,
            options: &self.options,
            trailer: Trailer::default(),
        };
        deserializer.deserialize_map(NodeVisitor {
            writer: &mut writer,
            place: Place::Root,
            fields: &self.fields,
        })?;
        Ok(writer.trailer)
    }

    pub(super) fn finish(&mut self, trailer: &Trailer) -> Result<Record, RecordError> {
        if u32::try_from(self.buffer.len()).is_err() {
            return Err(RecordError::TooLarge {
                bytes: self.buffer.len(),
            });
        }
        flat::write_trailer(&mut self.buffer, trailer);
        let record = Record::from_encoded(Arc::from(self.buffer.as_slice()));
        if self.buffer.capacity() > MAX_REUSED_BUFFER {
            self.buffer = Vec::new();
        }
        Ok(record)
    }
}

/// The position of a node in the object, which decides about its keys.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Metadata,
    /// An object whose keys users choose: they are not added to the dictionary.
    UserKeys,
    Plain,
}

/// How the value of a key is encoded.
enum Below<'a> {
    At(Place, &'a FieldTree),
    ManagedFields,
    Dropped,
}

/// Fields whose keys users choose, at any position.
const USER_KEYED: [&str; 14] = [
    "labels",
    "annotations",
    "data",
    "stringData",
    "binaryData",
    "matchLabels",
    "nodeSelector",
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "hard",
    "used",
    "options",
];

struct KeySeed<'a, 'w, 'k> {
    writer: &'a mut Writer<'w>,
    place: Place,
    fields: &'k FieldTree,
    content: usize,
}

impl<'de, 'k> DeserializeSeed<'de> for KeySeed<'_, '_, 'k> {
    type Value = Below<'k>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Below<'k>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, 'k> Visitor<'de> for KeySeed<'_, '_, 'k> {
    type Value = Below<'k>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, key: &str) -> Result<Below<'k>, E> {
        let place = match (self.place, key) {
            (Place::Root, "metadata") => Place::Metadata,
            (Place::Root, "apiVersion" | "kind") if self.writer.options.kind.is_some() => {
                return Ok(Below::Dropped);
            }
            (Place::Metadata, "managedFields") => return Ok(Below::ManagedFields),
            (Place::UserKeys, _) => Place::Plain,
            _ if USER_KEYED.contains(&key) => Place::UserKeys,
            _ => Place::Plain,
        };
        let Some(fields) = self.fields.below(key) else {
            return Ok(Below::Dropped);
        };
        let id = if self.place == Place::UserKeys || !is_field_name(key) {
            dictionary::find(key)
        } else {
            dictionary::intern(key)
        };
        self.writer.key(key, id);
        if place == Place::Metadata {
            self.writer.trailer.metadata = Some(self.writer.out.len() - self.content);
        }
        Ok(Below::At(place, fields))
    }
}

/// Kubernetes' own field names are alphanumeric; a key with dots, slashes or dashes is a user's.
fn is_field_name(key: &str) -> bool {
    key.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

struct NodeVisitor<'a, 'w, 'k> {
    writer: &'a mut Writer<'w>,
    place: Place,
    fields: &'k FieldTree,
}

impl<'de> DeserializeSeed<'de> for NodeVisitor<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeVisitor<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Root => f.write_str("an object"),
            _ => f.write_str("a JSON value"),
        }
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.writer.tagged(tag::SIMPLE, tag::NULL.into());
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        let low = if value { tag::TRUE } else { tag::FALSE };
        self.writer.tagged(tag::SIMPLE, low.into());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.writer.tagged(tag::UNSIGNED, value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        match u64::try_from(value) {
            Ok(value) => self.writer.tagged(tag::UNSIGNED, value),
            Err(_) => {
                self.writer.tagged(tag::SIMPLE, tag::NEGATIVE.into());
                self.writer.varint((!value).unsigned_abs());
            }
        }
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.writer.tagged(tag::SIMPLE, tag::FLOAT.into());
        self.writer.out.extend(value.to_le_bytes());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.writer.text(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { writer, fields, .. } = self;
        let start = writer.open(tag::ARRAY);
        let mut count = 0;
        let place = Place::Plain;
        while elements
            .next_element_seed(NodeVisitor {
                writer,
                place,
                fields,
            })?
            .is_some()
        {
            count += 1;
        }
        writer.close(start, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self {
            writer,
            place,
            fields,
        } = self;
        let start = writer.open(tag::OBJECT);
        let content = writer.out.len();
        let mut count = match place {
            Place::Root => writer.type_fields(),
            _ => 0,
        };
        while let Some(below) = members.next_key_seed(KeySeed {
            writer,
            place,
            fields,
            content,
        })? {
            match below {
                Below::Dropped => {
                    members.next_value::<IgnoredAny>()?;
                }
                Below::ManagedFields => managed_fields(writer, &mut members)?,
                Below::At(place, fields) => {
                    members.next_value_seed(NodeVisitor {
                        writer,
                        place,
                        fields,
                    })?;
                    count += 1;
                }
            }
        }
        writer.close(start, count);
        Ok(())
    }
}

fn managed_fields<'de, A: MapAccess<'de>>(
    writer: &mut Writer<'_>,
    members: &mut A,
) -> Result<(), A::Error> {
    match &writer.options.field_manager {
        None => members.next_value::<IgnoredAny>().map(drop),
        Some(manager) => {
            writer.trailer.field_hash = members.next_value_seed(ManagedFieldsSeed { manager })?;
            Ok(())
        }
    }
}
