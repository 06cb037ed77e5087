//! The parameters of requests.

use serde_json::{Value, json};

/// The query parameters of create and update.
pub(super) const WRITE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
];

/// The query parameters of patch and apply.
pub(super) const PATCH: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("fieldManager", "string"),
    ("fieldValidation", "string"),
    ("force", "boolean"),
];

/// The query parameters of list and watch.
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

/// The query parameters of delete.
pub(super) const DELETE: &[(&str, &str)] = &[
    ("dryRun", "string"),
    ("gracePeriodSeconds", "integer"),
    ("orphanDependents", "boolean"),
    ("propagationPolicy", "string"),
];

/// Query parameters.
pub(super) fn query(parameters: &[(&str, &str)]) -> Vec<Value> {
    let parameters = parameters.iter().map(|(name, kind)| {
        json!({"name": name, "in": "query", "schema": {"type": kind, "uniqueItems": true}})
    });
    parameters.collect()
}

/// Path parameters, and the query parameter `pretty` that all operations have.
pub(super) fn path(names: &[&str]) -> Vec<Value> {
    let parameters = names.iter().map(|name| {
        let schema = json!({"type": "string", "uniqueItems": true});
        json!({"name": name, "in": "path", "required": true, "schema": schema})
    });
    parameters.chain(query(&[("pretty", "string")])).collect()
}
