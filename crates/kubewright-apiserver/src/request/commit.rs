use std::sync::Arc;

use kubewright_wire::apply::equal_but_times;
use kubewright_wire::schema::{Schema, forget_empty};
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::json_patch::height;
use super::target::Target;
use crate::crd;
use crate::kinds::stored_kind;
use crate::seeded::SeededFault;
use crate::server::Server;
use crate::store::{DEEPEST, Expected, NotStored, Object, Race, Seen};

/// Checks that an object can be stored and read again.
pub(super) fn check_depth(value: &Value) -> Result<(), Status> {
    let depth = height(value);
    match depth > DEEPEST {
        true => Err(Status::bad_request(format!(
            "the object with its managedFields is nested {depth} levels deep; at most {DEEPEST} \
             can be stored"
        ))),
        false => Ok(()),
    }
}

/// Stores a new object, if what it was admitted by still holds; a dry run only shows it.
pub(super) fn create(
    server: &Server,
    target: &Target,
    mut value: Value,
    admitted_by: &[Seen],
    is_dry_run: bool,
) -> Result<Arc<Object>, NotStored> {
    forget(target, &mut value);
    let name = value["metadata"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let key = target.key(&name);
    if is_dry_run {
        return match server.store().get(&key) {
            Some(current) => Err(NotStored::Taken(current)),
            None => Ok(Arc::new(Object::encoded(value, Default::default()))),
        };
    }
    server.store().create(key, value, admitted_by)
}

/// Stores a changed object. One that was only waiting for its last finalizer is removed instead.
pub(super) fn update(
    server: &Server,
    target: &Target,
    old: &Object,
    mut value: Value,
    is_dry_run: bool,
) -> Result<Arc<Object>, Race> {
    forget(target, &mut value);
    let is_unchanged = is_unchanged(old, &value);
    if is_unchanged {
        value = old.value().clone();
    }
    if is_dry_run {
        let revision = old.revision();
        return Ok(Arc::new(Object::new(value, revision)));
    }
    let key = target.key(old.name());
    if is_unchanged && server.has(SeededFault::NoOpMakesRevision) {
        let mut other = value.clone();
        other["seeded"] = json!(true);
        let other = server
            .store()
            .put(key.clone(), Expected::At(old.revision()), other)?;
        return server
            .store()
            .put(key, Expected::At(other.revision()), value);
    }
    if is_finished(target, old, &value) {
        let mut revision = old.revision();
        if server.has(SeededFault::LastFinalizerIsModified) {
            let expected = Expected::At(revision);
            revision = server
                .store()
                .put(key.clone(), expected, value.clone())?
                .revision();
        }
        // Watches see the object as it was stored, finalizers included; only the answer has what
        // was sent (`deleteWithoutFinalizers` of k8s.io/apiserver).
        server.store().remove(key, revision)?;
        crd::instance_gone(server, &target.served.id);
        return Ok(Arc::new(Object::new(value, old.revision())));
    }
    server.store().put(key, Expected::At(old.revision()), value)
}

/// What the store of Kubernetes does not keep of its own kinds, which a dry run shows, too.
/// Definitions are stored as JSON.
fn forget(target: &Target, value: &mut Value) {
    let is_definition = target
        .served
        .is("apiextensions.k8s.io", "CustomResourceDefinition");
    if target.served.custom().is_some() || is_definition {
        return;
    }
    if let Some(schema) = Schema::builtin().kind(&stored_kind(target.kind())) {
        forget_empty(value, schema);
    }
}

/// Whether an update takes away the last thing that a deletion waited for
/// (`ShouldDeleteDuringUpdate`).
fn is_finished(target: &Target, old: &Object, value: &Value) -> bool {
    let metadata = &value["metadata"];
    let is_empty = |list: Option<&Value>| {
        list.and_then(Value::as_array)
            .is_none_or(|entries| entries.is_empty())
    };
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    if !old.is_terminating() || grace != 0 || !is_empty(metadata.get("finalizers")) {
        return false;
    }
    let is_namespace = target.served.is("", "Namespace");
    let spec_finalizers = |value: &Value| {
        let finalizers = value.pointer("/spec/finalizers");
        !is_namespace || is_empty(finalizers)
    };
    let waited = old.finalizers().next().is_some() || !spec_finalizers(old.value());
    waited && spec_finalizers(value)
}

/// Whether a write changes nothing but the times in managedFields
/// (`k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager/equality.go`).
fn is_unchanged(old: &Object, value: &Value) -> bool {
    let (Some(before), Some(after)) = (old.value().as_object(), value.as_object()) else {
        return false;
    };
    let counted = |(name, _): &(&String, &Value)| name.as_str() != "metadata";
    if !before
        .iter()
        .filter(counted)
        .eq(after.iter().filter(counted))
    {
        return false;
    }
    let metadata = |object: &Map<String, Value>| {
        let mut metadata = object.get("metadata").cloned().unwrap_or_default();
        if let Some(members) = metadata.as_object_mut() {
            members.remove("resourceVersion");
        }
        json!({"metadata": metadata})
    };
    equal_but_times(&metadata(before), &metadata(after))
}
