//! The last step of a write: the store.

use std::sync::Arc;

use kubewright_kinds::StorageEncoding;
use kubewright_kinds::core::NAMESPACE;
use kubewright_kinds::json::text;
use kubewright_wire::apply::equal_ignoring_times;
use kubewright_wire::patch::depth;
use kubewright_wire::schema::{self, Schema};
use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use crate::request::api::Api;
use crate::request::definitions::object_removed;
use crate::request::options::DryRun;
use crate::request::target::Target;
use crate::store::{CreateConflict, Expected, MAX_OBJECT_DEPTH, Object, ObservedRevision};

/// The result of a commit.
pub(super) enum Committed {
    Stored(Arc<Object>),
    /// An object of this name exists.
    Exists(Arc<Object>),
    /// Another write has changed or removed the object.
    Conflict,
    /// An object that this new one depends on has changed. Has the new object, which was not stored.
    Outdated(Value),
}

/// The state that an object replaces.
#[derive(Clone, Copy)]
pub(super) enum Replaced<'a> {
    /// Nothing. The new object is stored only while these objects are current.
    New(&'a [ObservedRevision]),
    /// The stored object.
    Stored(&'a Object),
}

/// Stores an object. A dry run only returns it.
pub(super) fn commit(
    api: &Api,
    target: &Target,
    replaced: Replaced<'_>,
    mut value: Value,
    dry_run: DryRun,
) -> Result<Committed, Status> {
    check_depth(&value)?;
    drop_empty_fields(target, &mut value);
    Ok(match replaced {
        Replaced::New(guards) => {
            if dry_run == DryRun::No {
                check_no_revision(&value)?;
            }
            create(api, target, value, guards, dry_run)
        }
        Replaced::Stored(old) => update(api, target, old, value, dry_run),
    })
}

/// Checks that an object can be stored and read again.
fn check_depth(value: &Value) -> Result<(), Status> {
    let depth = depth(value);
    if depth <= MAX_OBJECT_DEPTH {
        return Ok(());
    }
    Err(Status::bad_request(format!(
        "the object with its managedFields is nested {depth} levels deep; at most {MAX_OBJECT_DEPTH} can \
         be stored"
    )))
}

/// Checks that a new object names no revision. The store does this, after all other checks
/// (`Create` of k8s.io/apiserver/pkg/storage/etcd3). An invalid number is ignored.
fn check_no_revision(value: &Value) -> Result<(), Status> {
    let revision = text(&value["metadata"]["resourceVersion"]).parse::<u64>();
    if revision.is_ok_and(|number| number != 0) {
        return Err(Status::unknown(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    Ok(())
}

fn create(
    api: &Api,
    target: &Target,
    value: Value,
    guards: &[ObservedRevision],
    dry_run: DryRun,
) -> Committed {
    let key = target.key(text(&value["metadata"]["name"]));
    if dry_run == DryRun::Yes {
        return match api.store.get(&key) {
            Some(current) => Committed::Exists(current),
            None => Committed::Stored(Arc::new(Object::encoded(value, Default::default()))),
        };
    }
    match api.store.create(key, value, guards) {
        Ok(object) => Committed::Stored(object),
        Err(CreateConflict::Exists(current)) => Committed::Exists(current),
        Err(CreateConflict::Outdated(value)) => Committed::Outdated(value),
    }
}

/// Stores a changed object. An object that is being deleted is removed with its last finalizer.
fn update(
    api: &Api,
    target: &Target,
    old: &Object,
    mut value: Value,
    dry_run: DryRun,
) -> Committed {
    if is_unchanged(old, &value) {
        value = old.value().clone();
    }
    if dry_run == DryRun::Yes {
        return Committed::Stored(Arc::new(Object::new(value, old.revision())));
    }
    let key = target.key(old.name());
    if is_deletion_complete(target, old, &value) {
        // Watches see the object as it was stored, with its finalizers; only the response has what
        // was sent (`deleteWithoutFinalizers` of k8s.io/apiserver).
        if api.store.remove(key, old.revision()).is_err() {
            return Committed::Conflict;
        }
        object_removed(api, &target.resource.id);
        return Committed::Stored(Arc::new(Object::new(value, old.revision())));
    }
    match api.store.put(key, Expected::At(old.revision()), value) {
        Ok(object) => Committed::Stored(object),
        Err(_) => Committed::Conflict,
    }
}

/// Drops the empty fields that an encoding as protobuf loses. A dry run shows this as well.
fn drop_empty_fields(target: &Target, value: &mut Value) {
    if target.resource.strategy.storage_encoding == StorageEncoding::Json {
        return;
    }
    if let Some(schema) = Schema::builtin().kind(&target.resource.stored_kind()) {
        schema::drop_empty_fields(value, schema);
    }
}

/// Whether an update removes the last thing that a deletion waited for
/// (`ShouldDeleteDuringUpdate`).
fn is_deletion_complete(target: &Target, old: &Object, value: &Value) -> bool {
    let metadata = &value["metadata"];
    let is_empty = |list: Option<&Value>| {
        list.and_then(Value::as_array)
            .is_none_or(|entries| entries.is_empty())
    };
    let grace = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0);
    if !old.is_terminating() || grace != 0 || !is_empty(metadata.get("finalizers")) {
        return false;
    }
    let is_namespace = target.resource.is(&NAMESPACE);
    let has_no_content =
        |value: &Value| !is_namespace || is_empty(value.pointer("/spec/finalizers"));
    let was_waiting = old.finalizers().next().is_some() || !has_no_content(old.value());
    was_waiting && has_no_content(value)
}

/// Whether a write changes nothing but the times in managedFields
/// (`k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager/equality.go`).
fn is_unchanged(old: &Object, value: &Value) -> bool {
    let (Some(before), Some(after)) = (old.value().as_object(), value.as_object()) else {
        return false;
    };
    let is_compared = |(name, _): &(&String, &Value)| name.as_str() != "metadata";
    if !before
        .iter()
        .filter(is_compared)
        .eq(after.iter().filter(is_compared))
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
    equal_ignoring_times(&metadata(before), &metadata(after))
}
