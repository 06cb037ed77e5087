use std::fmt;
use std::sync::Arc;

use kubewright_core::Kind;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::field_hash::ManagedFieldsSeed;
use super::flat::{self, Record};
use super::node::tag;
use super::stub::Stub;
use super::writer::{Ends, Writer};
use super::{FieldTree, RecordError, dictionary};
use crate::protobuf::Buffers;

/// What an [`Encoder`] keeps and adds.
#[derive(Clone, Debug, Default)]
pub struct EncoderOptions {
    /// Whose Apply entry of `metadata.managedFields` leaves its [`FieldHash`](super::FieldHash) in the record.
    pub field_manager: Option<String>,
    /// What `apiVersion` and `kind` become. Items of a list often lack them; with this set, the
    /// records of a list and of a watch are alike.
    pub kind: Option<Kind>,
}

/// Makes records from JSON or protobuf, one after the other, with the same buffers.
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
    kept: FieldTree,
    buffer: Vec<u8>,
    /// What objects in protobuf are read with.
    pub(super) buffers: Buffers,
}

/// An outsized object does not keep its buffer alive behind it.
const LARGEST_KEPT_BUFFER: usize = 1 << 18;

impl Encoder {
    /// An encoder with these options.
    pub fn new(options: EncoderOptions) -> Self {
        Self {
            options,
            kept: FieldTree::Whole,
            buffer: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    /// The same encoder, which keeps only these fields beside `apiVersion` and `kind`.
    #[must_use]
    pub fn keeping(self, kept: FieldTree) -> Self {
        Self { kept, ..self }
    }

    /// The record of the JSON object in `json`.
    pub fn encode(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let ends = self.write(&mut deserializer).map_err(RecordError::Parse)?;
        deserializer.end().map_err(RecordError::Parse)?;
        self.finish(ends)
    }

    /// A record of the metadata alone, for JSON that [`Encoder::encode`] cannot read: it stands for
    /// the object everywhere but in [`Record::decode`], which fails.
    pub fn encode_stub(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let stub: Stub = serde_json::from_slice(json).map_err(RecordError::Parse)?;
        self.finish_stub(&stub)
    }

    /// A record of the metadata alone, for an object of which only the beginning is there.
    pub fn encode_beginning(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let stub = Stub::of_beginning(json).ok_or(RecordError::Oversized { read: json.len() })?;
        self.finish_stub(&stub)
    }

    fn finish_stub(&mut self, stub: &Stub) -> Result<Record, RecordError> {
        let value = serde_json::to_value(stub).map_err(RecordError::Parse)?;
        let ends = self.write(&value).map_err(RecordError::Parse)?;
        self.finish(Ends {
            is_stub: true,
            ..ends
        })
    }

    /// The record of an object that is at hand as a value.
    pub fn encode_value(&mut self, value: &Value) -> Result<Record, RecordError> {
        let ends = self.write(value).map_err(RecordError::Parse)?;
        self.finish(ends)
    }

    /// The record of an object that has been changed since `former` was made of it: what the
    /// field manager has applied is still what it was then.
    pub fn encode_changed(
        &mut self,
        former: &Record,
        value: &Value,
    ) -> Result<Record, RecordError> {
        let ends = self.write(value).map_err(RecordError::Parse)?;
        self.finish(Ends {
            field_hash: former.field_hash(),
            ..ends
        })
    }

    pub(super) fn write<'de, D: Deserializer<'de>>(
        &mut self,
        deserializer: D,
    ) -> Result<Ends, D::Error> {
        self.buffer.clear();
        let mut writer = Writer {
            out: &mut self.buffer,
            options: &self.options,
            ends: Ends::default(),
        };
        deserializer.deserialize_map(NodeVisitor {
            writer: &mut writer,
            place: Place::Root,
            kept: &self.kept,
        })?;
        Ok(writer.ends)
    }

    pub(super) fn finish(&mut self, ends: Ends) -> Result<Record, RecordError> {
        if u32::try_from(self.buffer.len()).is_err() {
            return Err(RecordError::TooLarge {
                bytes: self.buffer.len(),
            });
        }
        flat::write_trailer(&mut self.buffer, &ends);
        let record = Record::from_encoded(Arc::from(self.buffer.as_slice()));
        if self.buffer.capacity() > LARGEST_KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        Ok(record)
    }
}

/// Where in the object a node stands: decides about its keys.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Root,
    Metadata,
    /// An object whose keys users choose: they do not enter the dictionary.
    UserKeys,
    Plain,
}

/// What a key says about its value.
enum Below<'a> {
    At(Place, &'a FieldTree),
    ManagedFields,
    Dropped,
}

/// Fields whose keys are chosen by users, wherever they stand.
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
    kept: &'k FieldTree,
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
        let Some(kept) = self.kept.below(key) else {
            return Ok(Below::Dropped);
        };
        let id = if self.place == Place::UserKeys || !is_field_name(key) {
            dictionary::find(key)
        } else {
            dictionary::intern(key)
        };
        self.writer.key(key, id);
        if place == Place::Metadata {
            self.writer.ends.metadata = Some(self.writer.out.len() - self.content);
        }
        Ok(Below::At(place, kept))
    }
}

/// Kubernetes' own field names are words; what has dots, slashes or dashes is a user's key.
fn is_field_name(key: &str) -> bool {
    key.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

struct NodeVisitor<'a, 'w, 'k> {
    writer: &'a mut Writer<'w>,
    place: Place,
    kept: &'k FieldTree,
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
        let Self { writer, kept, .. } = self;
        let start = writer.open(tag::ARRAY);
        let mut count = 0;
        let place = Place::Plain;
        while elements
            .next_element_seed(NodeVisitor {
                writer,
                place,
                kept,
            })?
            .is_some()
        {
            count += 1;
        }
        writer.close(start, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self {
            writer,
            place,
            kept,
        } = self;
        let start = writer.open(tag::OBJECT);
        let content = writer.out.len();
        let mut count = match place {
            Place::Root => writer.type_fields(),
            _ => 0,
        };
        while let Some(below) = fields.next_key_seed(KeySeed {
            writer,
            place,
            kept,
            content,
        })? {
            let (place, kept) = match below {
                Below::Dropped => {
                    fields.next_value::<IgnoredAny>()?;
                    continue;
                }
                Below::ManagedFields => {
                    managed_fields(writer, &mut fields)?;
                    continue;
                }
                Below::At(place, kept) => (place, kept),
            };
            fields.next_value_seed(NodeVisitor {
                writer,
                place,
                kept,
            })?;
            count += 1;
        }
        writer.close(start, count);
        Ok(())
    }
}

fn managed_fields<'de, A: MapAccess<'de>>(
    writer: &mut Writer<'_>,
    fields: &mut A,
) -> Result<(), A::Error> {
    match &writer.options.field_manager {
        None => fields.next_value::<IgnoredAny>().map(drop),
        Some(manager) => {
            writer.ends.field_hash = fields.next_value_seed(ManagedFieldsSeed { manager })?;
            Ok(())
        }
    }
}
