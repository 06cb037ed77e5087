use serde_json::{Map, Value};

/// Whether what carries these fields has the revision of the whole cluster: a list, or what a
/// bookmark shows.
pub(super) fn is_of_cluster(fields: &Map<String, Value>) -> bool {
    let kind = fields.get("kind").and_then(Value::as_str);
    let is_table = matches!(kind, Some("Table" | "PartialObjectMetadataList"));
    is_table || fields.get("items").is_some_and(Value::is_array) || is_bookmark(fields)
}

/// A bookmark has nothing of an object but its kind and a revision.
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

/// The revision that a field of an object tells.
pub(super) fn revision(name: &str, field: &Value) -> Option<u64> {
    let text = field.as_str().filter(|_| name == "resourceVersion")?;
    text.parse().ok()
}

/// What tells the ReplicaSets of a Deployment apart, which no two implementations compute alike.
pub(super) fn template_hash(name: &str, field: &Value) -> Option<String> {
    let hash = field.as_str().filter(|_| name == "pod-template-hash")?;
    Some(hash.to_owned()).filter(|hash| hash.len() > 4)
}

/// Whether a text is a time as objects carry it.
pub(super) fn is_time(text: &str) -> bool {
    text.len() >= 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok()
}

/// Whether a text is a number of seconds up to two minutes, as tables show ages.
pub(super) fn is_age(text: &str) -> bool {
    let seconds = text.strip_suffix('s').and_then(|text| text.parse().ok());
    seconds.is_some_and(|seconds: u64| seconds < 120)
}

/// Whether a word is a version 4 UUID in its usual spelling.
pub(super) fn is_uid(word: &str) -> bool {
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    parts == [8, 4, 4, 4, 12]
}
