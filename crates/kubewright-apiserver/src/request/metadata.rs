use kubewright_wire::schema::Schema;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::target::Target;
use crate::kinds::{
    has_generation, keep_on_status_write, keeps_metadata_on_status_write, keeps_status_on_create,
    prepare_create as prepare_kind,
};
use crate::server::Server;
use crate::store::{Object, metadata_mut};

/// What only the server sets.
const SYSTEM_FIELDS: [&str; 5] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "selfLink",
    "uid",
];
const LONGEST_GENERATED: usize = 58;

/// Takes away what only the server sets, and puts the object into the URL's namespace.
pub(super) fn accept_new(target: &Target, value: &mut Value) -> Result<(), Status> {
    let metadata = metadata_mut(value);
    for field in SYSTEM_FIELDS {
        metadata.remove(field);
    }
    accept_namespace(target, metadata)
}

/// An object is in the namespace of the URL or in none.
pub(super) fn accept_namespace(
    target: &Target,
    metadata: &mut Map<String, Value>,
) -> Result<(), Status> {
    let sent = text(metadata, "namespace");
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

/// The name of a changed object is the URL's.
pub(super) fn check_name(metadata: &Map<String, Value>, name: &str) -> Result<(), Status> {
    let sent = text(metadata, "name");
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

/// The rest of a new object: name, uid, time of creation, generation, and no status.
pub(super) fn prepare_create(server: &Server, target: &Target, value: &mut Value) {
    let kind = target.kind();
    let metadata = metadata_mut(value);
    metadata.insert("uid".to_owned(), json!(server.random().uid()));
    metadata.insert("creationTimestamp".to_owned(), json!(server.timestamp()));
    let counts = target.served.custom().is_some() || has_generation(kind);
    // A kind that does not count keeps what it was given.
    if counts {
        metadata.insert("generation".to_owned(), json!(1));
    }
    let Some(object) = value.as_object_mut() else {
        return;
    };
    if target.served.has_status() && !keeps_status_on_create(kind) {
        object.remove("status");
        // What Kubernetes writes although nobody set it.
        let schema = Schema::builtin()
            .kind(kind)
            .filter(|_| target.served.custom().is_none());
        let zero = schema.map(|schema| schema.zero());
        if let Some(status) = zero.as_ref().and_then(|zero| zero.get("status")) {
            object.insert("status".to_owned(), status.clone());
        }
    }
    if target.served.custom().is_none() {
        prepare_kind(kind, object);
    }
}

/// A name made from `generateName`, when there is no name.
pub(super) fn generate_name(server: &Server, value: &mut Value) {
    let metadata = metadata_mut(value);
    let base = text(metadata, "generateName");
    if !text(metadata, "name").is_empty() || base.is_empty() {
        return;
    }
    let mut name: String = base;
    while name.len() > LONGEST_GENERATED {
        name.pop();
    }
    name.push_str(&server.random().suffix());
    metadata.insert("name".to_owned(), json!(name));
}

/// What an update cannot change: taken from the stored object.
pub(super) fn keep_system_fields(old: &Object, value: &mut Value) {
    let metadata = metadata_mut(value);
    let mut keep = |field: &str| match old.metadata(field) {
        Some(stored) => metadata.insert(field.to_owned(), stored.clone()),
        None => metadata.remove(field),
    };
    keep("generation");
    keep("creationTimestamp");
    if old.is_terminating() {
        keep("deletionTimestamp");
    }
    for field in ["uid", "deletionGracePeriodSeconds"] {
        if metadata.get(field).is_none_or(is_empty) {
            match old.metadata(field) {
                Some(stored) => metadata.insert(field.to_owned(), stored.clone()),
                None => metadata.remove(field),
            };
        }
    }
}

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All but the status, where the status is written apart.
    Main,
    /// The status alone.
    Status,
    /// Everything: parts of the cluster with their own rules, such as a Pod's binding.
    Whole,
}

/// Takes over from the stored object what the write is not about, and counts the generation.
pub(super) fn split_parts(target: &Target, part: Part, old: &Object, value: &mut Value) {
    let is_custom = target.served.custom().is_some();
    let Some(object) = value.as_object_mut() else {
        return;
    };
    match part {
        Part::Main if target.served.has_status() => {
            restore(object, old, "status");
        }
        Part::Status => {
            let keeps_metadata = is_custom || keeps_metadata_on_status_write(target.kind());
            restore_all_but_status(object, old, keeps_metadata);
            if !is_custom {
                keep_on_status_write(target.kind(), old.value(), object);
            }
        }
        Part::Main | Part::Whole => {}
    }
    let counts = is_custom || has_generation(target.kind());
    if counts && part == Part::Main && is_changed(target, old, object) {
        let generation = old.generation() + 1;
        metadata_mut(value).insert("generation".to_owned(), json!(generation));
    }
}

fn restore(object: &mut Map<String, Value>, old: &Object, field: &str) {
    match old.value().get(field) {
        Some(stored) => object.insert(field.to_owned(), stored.clone()),
        None => object.remove(field),
    };
}

/// The status endpoint of most built-in kinds may change metadata besides; a custom resource's may
/// not.
fn restore_all_but_status(object: &mut Map<String, Value>, old: &Object, keeps_metadata: bool) {
    let stored = old.value().as_object().into_iter().flatten();
    let mut kept: Map<String, Value> = stored
        .filter(|(name, _)| name.as_str() != "status")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(status) = object.remove("status") {
        kept.insert("status".to_owned(), status);
    }
    let sent = object.remove("metadata").unwrap_or_default();
    if keeps_metadata {
        if let Some(metadata) = kept.get_mut("metadata").and_then(Value::as_object_mut) {
            match sent.get("managedFields") {
                Some(fields) => metadata.insert("managedFields".to_owned(), fields.clone()),
                None => metadata.remove("managedFields"),
            };
        }
    } else {
        kept.insert("metadata".to_owned(), sent);
    }
    *object = kept;
}

/// Whether anything differs that the generation counts.
fn is_changed(target: &Target, old: &Object, new: &Map<String, Value>) -> bool {
    let counted = |name: &str| match name {
        "metadata" | "kind" | "apiVersion" => false,
        "status" => !target.served.has_status(),
        _ => true,
    };
    let Some(stored) = old.value().as_object() else {
        return true;
    };
    let before = stored.iter().filter(|(name, _)| counted(name));
    let after = new.iter().filter(|(name, _)| counted(name));
    // A Deployment's annotations go to its ReplicaSets.
    let annotations = |metadata: Option<&Value>| {
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        annotations.filter(|value| !is_empty(value)).cloned()
    };
    !before.eq(after)
        || target.served.is("apps", "Deployment")
            && annotations(stored.get("metadata")) != annotations(new.get("metadata"))
}

pub(super) fn text(metadata: &Map<String, Value>, field: &str) -> String {
    let text = metadata.get(field).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
