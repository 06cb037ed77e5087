//! The metadata that a client sends: name and namespace are those of the URL, and the fields that
//! only the server sets are removed.

use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::request::target::Target;
use crate::store::metadata_mut;

/// The fields that only the server sets.
const SYSTEM_FIELDS: [&str; 5] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "selfLink",
    "uid",
];

/// Removes the fields that only the server sets, and sets the namespace of the URL.
pub(super) fn accept_new(target: &Target, value: &mut Value) -> Result<(), Status> {
    let metadata = metadata_mut(value);
    for field in SYSTEM_FIELDS {
        metadata.remove(field);
    }
    accept_namespace(target, metadata)
}

/// Sets the namespace of the URL; another one is an error.
pub(super) fn accept_namespace(
    target: &Target,
    metadata: &mut Map<String, Value>,
) -> Result<(), Status> {
    let sent = string(metadata, "namespace");
    match &target.namespace {
        Some(namespace) if sent.is_empty() || sent == *namespace => {
            metadata.insert("namespace".to_owned(), json!(namespace));
            Ok(())
        }
        Some(_) => Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        None => {
            metadata.remove("namespace");
            Ok(())
        }
    }
}

/// Checks that the name of a changed object is that of the URL.
pub(crate) fn check_name(metadata: &Map<String, Value>, name: &str) -> Result<(), Status> {
    let sent = string(metadata, "name");
    if sent.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if sent != name {
        return Err(Status::bad_request(format!(
            "the name of the object ({sent}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

fn string(metadata: &Map<String, Value>, field: &str) -> String {
    metadata.get(field).map_or("", text).to_owned()
}
