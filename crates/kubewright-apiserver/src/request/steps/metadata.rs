//! Prepares objects for the store: the metadata that the server sets, and the parts that a write
//! cannot change.

use kubewright_core::Revision;
use kubewright_kinds::json::text;
use kubewright_kinds::{Generation, KeptMetadata, StatusOnCreate};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::new_name::generate_name;
use super::part::Part;
use super::revision::parse_unsigned;
use super::sent_metadata::accept_namespace;
use super::service_address::allocate_service_address;
use crate::request::api::Api;
use crate::request::target::Target;
use crate::store::{Object, metadata_mut};

/// Prepares a new object: metadata, status, name, and what its kind needs.
pub(super) fn prepare_new(api: &Api, target: &Target, value: &mut Value) -> Result<(), Status> {
    accept_namespace(target, metadata_mut(value))?;
    set_system_fields(api, target, value);
    allocate_service_address(api, target, value)?;
    generate_name(&api.random, value);
    if let Some(object) = value.as_object_mut() {
        target.resource.strategy.canonicalize(object);
    }
    Ok(())
}

/// Sets uid, time of creation and generation, and what the strategy of the kind sets.
pub(super) fn set_system_fields(api: &Api, target: &Target, value: &mut Value) {
    let metadata = metadata_mut(value);
    metadata.insert("uid".to_owned(), json!(api.random.uid()));
    metadata.insert("creationTimestamp".to_owned(), json!(api.timestamp()));
    // A kind without a generation keeps what the client sent.
    if target.resource.strategy.generation != Generation::Unused {
        metadata.insert("generation".to_owned(), json!(1));
    }
    reset_status(target, value);
    if let Some(object) = value.as_object_mut() {
        target.resource.strategy.prepare_create(object);
    }
}

/// Removes the status of a new object, if the status is a subresource.
fn reset_status(target: &Target, value: &mut Value) {
    let kind = target.kind();
    let Some(object) = value.as_object_mut() else {
        return;
    };
    let on_create = target.resource.strategy.status.on_create;
    if !target.resource.has_status() || on_create == StatusOnCreate::Keep {
        return;
    }
    object.remove("status");
    if target.resource.custom().is_some() {
        return;
    }
    // Some kinds have a status with zero values, which Kubernetes always writes.
    let zero = Schema::builtin().kind(kind).map(|schema| schema.zero());
    if let Some(status) = zero.as_ref().and_then(|zero| zero.get("status")) {
        object.insert("status".to_owned(), status.clone());
    }
}

/// Takes the fields from the stored object that an update cannot change.
pub(crate) fn keep_system_fields(old: &Object, value: &mut Value) {
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

/// Prepares a changed object: fields that this write cannot change are taken from the stored object.
pub(super) fn prepare_changed(
    target: &Target,
    part: Part,
    old: &Object,
    value: &mut Value,
) -> Result<(), Status> {
    check_revision(target, old, value)?;
    keep_system_fields(old, value);
    split_parts(target, part, old, value);
    Ok(())
}

/// Checks the `resourceVersion` in the object, which is a precondition.
pub(crate) fn check_revision(target: &Target, old: &Object, value: &Value) -> Result<(), Status> {
    let version = text(&value["metadata"]["resourceVersion"]);
    if version.is_empty() {
        return Ok(());
    }
    let revision = parse_unsigned(version).map_err(Status::unknown)?;
    if revision == old.revision() || revision == Revision::default() {
        return Ok(());
    }
    Err(Status::conflict(&target.resource.resource, old.name()))
}

/// Takes the other parts from the stored object, and increments the generation.
pub(super) fn split_parts(target: &Target, part: Part, old: &Object, value: &mut Value) {
    let strategy = target.resource.strategy;
    let Some(object) = value.as_object_mut() else {
        return;
    };
    match part {
        Part::Main => {
            if target.resource.has_status() {
                restore(object, old, "status");
            }
            strategy.prepare_update(old.value(), object);
        }
        Part::Status => {
            restore_all_but_status(object, old, strategy.status.kept_metadata);
            strategy.prepare_status_update(old.value(), object);
        }
        Part::Whole => {}
    }
    if part == Part::Main && is_generation_incremented(target, old, object) {
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

/// Takes all but the status from the stored object. The status subresource of most built-in kinds
/// can change metadata as well; that of custom resources keeps it.
fn restore_all_but_status(
    object: &mut Map<String, Value>,
    old: &Object,
    kept_metadata: KeptMetadata,
) {
    let stored = old.value().as_object().into_iter().flatten();
    let mut kept: Map<String, Value> = stored
        .filter(|(name, _)| name.as_str() != "status")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if let Some(status) = object.remove("status") {
        kept.insert("status".to_owned(), status);
    }
    let sent = object.remove("metadata").unwrap_or_default();
    if kept_metadata == KeptMetadata::All {
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

/// Whether a change increments the generation.
fn is_generation_incremented(target: &Target, old: &Object, new: &Map<String, Value>) -> bool {
    let generation = target.resource.strategy.generation;
    if generation == Generation::Unused {
        return false;
    }
    let counted = |name: &str| match name {
        "metadata" | "kind" | "apiVersion" => false,
        "status" => !target.resource.has_status(),
        _ => true,
    };
    let Some(stored) = old.value().as_object() else {
        return true;
    };
    let before = stored.iter().filter(|(name, _)| counted(name));
    let after = new.iter().filter(|(name, _)| counted(name));
    let annotations = |metadata: Option<&Value>| {
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        annotations.filter(|value| !is_empty(value)).cloned()
    };
    !before.eq(after)
        || generation == Generation::ContentAndAnnotations
            && annotations(stored.get("metadata")) != annotations(new.get("metadata"))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
