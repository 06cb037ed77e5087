use std::fmt;
use std::sync::Arc;

use kubewright_core::Kind;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::field_hash::{FieldHash, ManagedFieldsSeed};
use super::flat::{self, Record};
use super::node::tag;
use super::{RecordError, dictionary};

/// What an [`Encoder`] keeps and adds.
#[derive(Clone, Debug, Default)]
pub struct EncoderOptions {
    /// Whose Apply entry of `metadata.managedFields` leaves its [`FieldHash`] in the record.
    pub field_manager: Option<String>,
    /// What `apiVersion` and `kind` become. Items of a list often lack them; with this set, the
    /// records of a list and of a watch are alike.
    pub kind: Option<Kind>,
}

/// Makes records from JSON, one after the other, with one buffer.
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
    buffer: Vec<u8>,
}

/// An outsized object does not keep its buffer alive behind it.
const LARGEST_KEPT_BUFFER: usize = 1 << 18;

impl Encoder {
    /// An encoder with these options.
    pub fn new(options: EncoderOptions) -> Self {
        Self {
            options,
            buffer: Vec::new(),
        }
    }

    /// The record of the JSON object in `json`.
    pub fn encode(&mut self, json: &[u8]) -> Result<Record, RecordError> {
        let mut deserializer = serde_json::Deserializer::from_slice(json);
        let ends = self.write(&mut deserializer).map_err(RecordError::Parse)?;
        deserializer.end().map_err(RecordError::Parse)?;
        self.finish(ends)
    }

    /// The record of an object that is at hand as a value.
    pub fn encode_value(&mut self, value: &Value) -> Result<Record, RecordError> {
        let ends = self.write(value).map_err(RecordError::Parse)?;
        self.finish(ends)
    }

    fn write<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<Ends, D::Error> {
        self.buffer.clear();
        let mut writer = Writer {
            out: &mut self.buffer,
            options: &self.options,
            ends: Ends::default(),
        };
        deserializer.deserialize_map(NodeVisitor {
            writer: &mut writer,
            place: Place::Root,
        })?;
        Ok(writer.ends)
    }

    fn finish(&mut self, ends: Ends) -> Result<Record, RecordError> {
        if u32::try_from(self.buffer.len()).is_err() {
            return Err(RecordError::TooLarge {
                bytes: self.buffer.len(),
            });
        }
        flat::write_trailer(&mut self.buffer, ends.metadata, ends.field_hash);
        let record = Record::from_encoded(Arc::from(self.buffer.as_slice()));
        if self.buffer.capacity() > LARGEST_KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        Ok(record)
    }
}

/// What is learnt on the way and stands behind the nodes.
#[derive(Default)]
struct Ends {
    /// Where the value of `metadata` begins, counted from the root's content.
    metadata: Option<usize>,
    field_hash: Option<FieldHash>,
}

struct Writer<'w> {
    out: &'w mut Vec<u8>,
    options: &'w EncoderOptions,
    ends: Ends,
}

impl Writer<'_> {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(low_byte(value) | 0x80);
            value >>= 7;
        }
        self.out.push(low_byte(value));
    }

    fn tagged(&mut self, kind: u8, value: u64) {
        match u8::try_from(value) {
            Ok(small) if small < tag::FOLLOWS => self.out.push(kind << 5 | small),
            _ => {
                self.out.push(kind << 5 | tag::FOLLOWS);
                self.varint(value);
            }
        }
    }

    fn text(&mut self, text: &str) {
        let known = (text.len() <= dictionary::LONGEST).then(|| dictionary::find(text));
        match known.flatten() {
            Some(id) => self.tagged(tag::WORD, id as u64),
            None => {
                self.tagged(tag::TEXT, text.len() as u64);
                self.out.extend_from_slice(text.as_bytes());
            }
        }
    }

    fn key(&mut self, key: &str, id: Option<usize>) {
        match id {
            Some(id) => self.varint(id as u64 + 1),
            None => {
                self.out.push(0);
                self.varint(key.len() as u64);
                self.out.extend_from_slice(key.as_bytes());
            }
        }
    }

    /// Begins an object or array; [`Writer::close`] fills in count and length.
    fn open(&mut self, kind: u8) -> usize {
        let start = self.out.len();
        self.out.extend([kind << 5, 0]);
        start
    }

    /// The length is written as short as it can be: most containers are below 128 bytes, and
    /// longer ones move their content by a byte or two.
    fn close(&mut self, start: usize, count: usize) {
        let content = start + 2;
        let end = self.out.len();
        let mut length = end - content;
        let mut more = 0;
        while length >> (7 * (more + 1)) > 0 {
            more += 1;
        }
        self.out.resize(end + more, 0);
        self.out.copy_within(content..end, content + more);
        self.out[start] |= u8::try_from(count).unwrap_or(31).min(31);
        for at in 0..=more {
            let last = if at == more { 0 } else { 0x80 };
            self.out[start + 1 + at] = low_byte(length as u64) | last;
            length >>= 7;
        }
    }

    /// `apiVersion` and `kind` as the options want them.
    fn type_fields(&mut self) -> usize {
        let Some(kind) = &self.options.kind else {
            return 0;
        };
        for (key, value) in [("apiVersion", &kind.api_version()), ("kind", &kind.kind)] {
            self.key(key, dictionary::intern(key));
            match dictionary::intern(value) {
                Some(id) => self.tagged(tag::WORD, id as u64),
                None => self.text(value),
            }
        }
        2
    }
}

/// The seven lowest bits.
fn low_byte(value: u64) -> u8 {
    u8::try_from(value & 0x7f).expect("seven bits fit")
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
enum Below {
    At(Place),
    Metadata,
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

struct KeySeed<'a, 'w> {
    writer: &'a mut Writer<'w>,
    place: Place,
    content: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = Below;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Below, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_, '_> {
    type Value = Below;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, key: &str) -> Result<Below, E> {
        let below = match (self.place, key) {
            (Place::Root, "metadata") => Below::Metadata,
            (Place::Root, "apiVersion" | "kind") if self.writer.options.kind.is_some() => {
                return Ok(Below::Dropped);
            }
            (Place::Metadata, "managedFields") => return Ok(Below::ManagedFields),
            (Place::UserKeys, _) => Below::At(Place::Plain),
            _ if USER_KEYED.contains(&key) => Below::At(Place::UserKeys),
            _ => Below::At(Place::Plain),
        };
        let id = if self.place == Place::UserKeys || !is_field_name(key) {
            dictionary::find(key)
        } else {
            dictionary::intern(key)
        };
        self.writer.key(key, id);
        if matches!(below, Below::Metadata) {
            self.writer.ends.metadata = Some(self.writer.out.len() - self.content);
        }
        Ok(below)
    }
}

/// Kubernetes' own field names are words; what has dots, slashes or dashes is a user's key.
fn is_field_name(key: &str) -> bool {
    key.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

struct NodeVisitor<'a, 'w> {
    writer: &'a mut Writer<'w>,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for NodeVisitor<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeVisitor<'_, '_> {
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
        let writer = self.writer;
        let start = writer.open(tag::ARRAY);
        let mut count = 0;
        let place = Place::Plain;
        while elements
            .next_element_seed(NodeVisitor { writer, place })?
            .is_some()
        {
            count += 1;
        }
        writer.close(start, count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let Self { writer, place } = self;
        let start = writer.open(tag::OBJECT);
        let content = writer.out.len();
        let mut count = match place {
            Place::Root => writer.type_fields(),
            _ => 0,
        };
        while let Some(below) = fields.next_key_seed(KeySeed {
            writer,
            place,
            content,
        })? {
            let place = match below {
                Below::Dropped => {
                    fields.next_value::<IgnoredAny>()?;
                    continue;
                }
                Below::ManagedFields => {
                    managed_fields(writer, &mut fields)?;
                    continue;
                }
                Below::Metadata => Place::Metadata,
                Below::At(place) => place,
            };
            fields.next_value_seed(NodeVisitor { writer, place })?;
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
