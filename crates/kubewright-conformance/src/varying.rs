//! Recognizes the values of responses that differ from run to run.

use serde_json::{Map, Value};

/// Whether these are the fields of a list or of the object of a bookmark, which have the revision of
/// the whole cluster.
pub(super) fn is_of_cluster(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("kind").and_then(Value::as_str);
    let is_table = matches!(kind, Some("Table" | "PartialObjectMetadataList"));
    is_table || fields.get("items").is_some_and(Value::is_array) || is_bookmark(fields)
}

/// The object of a bookmark has only a kind and a revision.
fn is_bookmark(fields: &Map<String, Value>) -> bool {
    let is_bare = fields
        .keys()
        .all(|name| matches!(name.as_str(), "kind" | "apiVersion" | "metadata"));
    let metadata = fields.get("metadata").and_then(Value::as_object);
    let is_nameless = metadata.is_some_and(|metadata| {
        let is_named = metadata.contains_key("name") || metadata.contains_key("uid");
        metadata.contains_key("resourceVersion") && !is_named
    });
    is_bare && fields.contains_key("kind") && is_nameless
}

/// The revision in a field of an object.
pub(super) fn revision(name: &str, field: &Value) -> Option<u64> {
    let text = field.as_str().filter(|_| name == "resourceVersion")?;
    text.parse().ok()
}

/// The hash by which the ReplicaSets of a Deployment are distinguished. Implementations compute it
/// differently.
pub(super) fn template_hash(name: &str, field: &Value) -> Option<String> {
    let hash = field.as_str().filter(|_| name == "pod-template-hash")?;
    Some(hash.to_owned()).filter(|hash| hash.len() > 4)
}

/// Whether a text is a timestamp of an object.
pub(super) fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

/// Whether a text is an age of a table: a number of seconds up to two minutes.
pub(super) fn is_age(text: &str) -> bool {
    let seconds = text.strip_suffix('s').and_then(|text| text.parse().ok());
    seconds.is_some_and(|seconds: u64| seconds < 120)
}

/// Whether a word has the format of a UUID.
pub(super) fn is_uid(word: &str) -> bool {
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
}
