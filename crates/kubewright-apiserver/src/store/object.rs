//! Stored objects.

use std::fmt;
use std::sync::OnceLock;

use bytes::Bytes;
use jiff::Timestamp;
use kubewright_core::{OwnerReference, Revision};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The depth of nested lists and objects that a stored object can have.
///
/// Bodies of requests are less deep (127 levels as JSON, 200 as YAML); `managedFields` repeat the
/// structure of the object some levels below its top.
pub(crate) const MAX_OBJECT_DEPTH: usize = 256;

/// A stored object: its value and its encoded bytes. It is immutable: a write stores a new object.
#[derive(Clone)]
pub struct Object {
    value: Value,
    revision: Revision,
    weight: usize,
    /// Encoded when first needed, outside of any lock, and then shared by all readers.
    encoded: OnceLock<Encoded>,
}

#[derive(Clone)]
struct Encoded {
    bytes: Bytes,
    /// The index in `bytes` of the first member after `kind` and `apiVersion`.
    body: usize,
}

impl Object {
    /// An object at a revision, which becomes its `resourceVersion`.
    pub fn new(mut value: Value, revision: Revision) -> Self {
        metadata_mut(&mut value).insert(
            "resourceVersion".to_owned(),
            Value::String(revision.to_string()),
        );
        Self::encoded(value, revision)
    }

    /// An object whose `resourceVersion` stays as it is, such as the result of a dry run.
    pub(crate) fn encoded(value: Value, revision: Revision) -> Self {
        Self {
            weight: weight(&value),
            value,
            revision,
            encoded: OnceLock::new(),
        }
    }

    fn encoding(&self) -> &Encoded {
        self.encoded.get_or_init(|| {
            let (bytes, body) = encode(&self.value);
            Encoded { bytes, body }
        })
    }

    /// The whole object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The object as JSON.
    pub fn bytes(&self) -> &Bytes {
        &self.encoding().bytes
    }

    /// The members after `kind` and `apiVersion` with the closing brace, for items of lists of
    /// built-in kinds, which have neither.
    pub(crate) fn bytes_without_kind(&self) -> Bytes {
        let Encoded { bytes, body } = self.encoding();
        bytes.slice(*body..)
    }

    /// The revision of the write that stored it.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// About its memory, with the encoded bytes.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// A member of `metadata`.
    pub fn metadata(&self, field: &str) -> Option<&Value> {
        self.value.get("metadata")?.get(field)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.metadata_text("name")
    }

    /// The namespace; none for cluster-scoped kinds.
    pub fn namespace(&self) -> Option<&str> {
        Some(self.metadata_text("namespace")).filter(|namespace| !namespace.is_empty())
    }

    /// The uid.
    pub fn uid(&self) -> &str {
        self.metadata_text("uid")
    }

    /// `metadata.generation`, 0 for kinds that have none.
    pub fn generation(&self) -> i64 {
        self.metadata("generation")
            .and_then(Value::as_i64)
            .unwrap_or_default()
    }

    /// The value of a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.metadata("labels")?.get(key)?.as_str()
    }

    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata("annotations")?.get(key)?.as_str()
    }

    /// The finalizers, in order.
    pub fn finalizers(&self) -> impl Iterator<Item = &str> {
        self.metadata("finalizers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// The owners, in order, without malformed entries.
    pub fn owner_references(&self) -> Vec<OwnerReference> {
        self.metadata("ownerReferences")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|entry| OwnerReference::deserialize(entry).ok())
            .collect()
    }

    /// The time of its deletion; none unless it is being deleted.
    pub fn deletion_timestamp(&self) -> Option<Timestamp> {
        self.metadata("deletionTimestamp")?.as_str()?.parse().ok()
    }

    /// Whether it is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.metadata("deletionTimestamp")
            .is_some_and(|time| !time.is_null())
    }

    fn metadata_text(&self, field: &str) -> &str {
        self.metadata(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.bytes()))
    }
}

/// About the memory of a value and its JSON: each string is in both.
fn weight(value: &Value) -> usize {
    const VALUE: usize = size_of::<Value>();
    const NAME: usize = size_of::<String>();
    let parts: usize = match value {
        Value::String(text) => 2 * text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| NAME + 2 * name.len() + weight(member))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    VALUE + parts
}

/// The metadata of an object. It is created when it is absent.
pub(crate) fn metadata_mut(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let metadata = value
        .as_object_mut()
        .expect("it was made an object above")
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata
        .as_object_mut()
        .expect("it was made an object above")
}

/// Encodes an object, with `kind` and `apiVersion` first. Returns the index of the next member: the
/// items of lists of built-in kinds are copied from there.
fn encode(value: &Value) -> (Bytes, usize) {
    const IN_MEMORY: &str = "JSON values are written to memory, which does not fail";
    let mut bytes = Vec::with_capacity(512);
    bytes.push(b'{');
    let members = value.as_object().into_iter().flatten();
    let (head, rest): (Vec<_>, Vec<_>) =
        members.partition(|(name, _)| matches!(name.as_str(), "kind" | "apiVersion"));
    let mut body = 1;
    let head_members = head.len();
    // Members are sorted; Kubernetes writes `kind` before `apiVersion`.
    for (index, (name, member)) in head.into_iter().rev().chain(rest).enumerate() {
        if index > 0 {
            bytes.push(b',');
        }
        if index == head_members {
            body = bytes.len();
        }
        serde_json::to_writer(&mut bytes, name).expect(IN_MEMORY);
        bytes.push(b':');
        serde_json::to_writer(&mut bytes, member).expect(IN_MEMORY);
    }
    if body == 1 && head_members > 0 {
        body = bytes.len();
    }
    bytes.push(b'}');
    (Bytes::from(bytes), body)
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::json;

    use super::Object;

    #[test]
    fn kind_is_encoded_first_and_can_be_left_out() {
        let object = Object::new(
            json!({"metadata": {"name": "a"}, "apiVersion": "v1", "kind": "Pod", "data": 1}),
            Revision::new(7),
        );
        assert_eq!(
            object.bytes(),
            br#"{"kind":"Pod","apiVersion":"v1","data":1,"metadata":{"name":"a","resourceVersion":"7"}}"#
                .as_slice()
        );
        assert!(object.bytes_without_kind().starts_with(br#""data":1,"#));
    }

    #[test]
    fn metadata_is_read_by_accessors() {
        let object = Object::new(
            json!({"metadata": {
                "name": "a", "namespace": "n", "uid": "u", "labels": {"k": "v"}, "finalizers": ["x/y"],
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "o", "uid": "1"}],
            }}),
            Revision::new(1),
        );
        assert_eq!((object.name(), object.namespace()), ("a", Some("n")));
        assert_eq!((object.uid(), object.label("k")), ("u", Some("v")));
        assert_eq!(object.finalizers().collect::<Vec<_>>(), ["x/y"]);
        assert_eq!(object.owner_references()[0].uid, "1");
        assert!(!object.is_terminating());
    }
}
