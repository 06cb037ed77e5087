use serde_json::{Value, json};

/// The parameters that say how something is written.
pub(super) const WRITE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
];

/// Those of a patch.
pub(super) const PATCH: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
];

/// Those of a list or watch.
pub(super) const LIST: &[(&str, &str)] = &[
    ("allowWatchBookmarks", "boolean"),
    ("continue", "string"),
    ("fieldSelector", "string"),
    ("labelSelector", "string"),
    ("limit", "integer"),
    ("resourceVersion", "string"),
    ("resourceVersionMatch", "string"),
    ("sendInitialEvents", "boolean"),
    ("timeoutSeconds", "integer"),
    ("watch", "boolean"),
];

/// Those of a delete.
pub(super) const DELETE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

/// Parameters behind the `?` of an address.
pub(super) fn query(parameters: &[(&str, &str)]) -> Vec<Value> {
    let parameters = parameters.iter().map(|(name, kind)| {
        json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
    });
    parameters.collect()
}

/// The parts of an address that stand for something.
pub(super) fn path(names: &[&str]) -> Vec<Value> {
    let parameters = names.iter().map(|name| {
        let text = json!({"type": "string", "uniqueItems": true});
        json!({"name": name, "in": "path", "required": true, "schema": text})
    });
    parameters.chain(query(&[("pretty", "string")])).collect()
}
