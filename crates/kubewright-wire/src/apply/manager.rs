//! Tracking of field owners over creates, updates, patches and applies.

use std::sync::LazyLock;

use jiff::Timestamp;
use kubewright_core::{GroupVersion, Kind};
use serde_json::{Value, json};

use super::cap::cap;
use super::conflict::Force;
use super::managed::{self, Entry, Managed, ManagerId, Operation};
use super::updater::{Intent, Updater};
use super::validate::{Duplicates, validate};
use super::versions::Versions;
use crate::fields::{FieldSet, Path};
use crate::status::Status;

/// A write, as far as the tracking of field owners needs it.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The kind, in the version that the request uses.
    pub kind: &'a Kind,
    /// The versions in which the kind is served.
    pub versions: &'a dyn Versions,
    /// The field manager; an empty one is written as `unknown`.
    pub manager: &'a str,
    /// The subresource, empty for the object itself.
    pub subresource: &'a str,
    /// The time of the write.
    pub time: Timestamp,
    /// Fields that the request cannot change, such as `status` on the object itself.
    pub reset: &'a FieldSet,
}

/// Tracks a create, update or patch: returns the new object with updated `managedFields`. Without a
/// live object this is a create.
///
/// It never fails: an object whose fields cannot be tracked has no `managedFields`, as in
/// Kubernetes.
pub fn update(live: Option<&Value>, mut new: Value, write: &Write<'_>) -> Value {
    let mut managed = tracked(live, &new, write);
    managed::remove_field(&mut new);
    // An object that was created without `managedFields` has none until it is applied.
    if live.is_some() && managed.entries.is_empty() {
        return new;
    }
    match write.track(live, &new, &mut managed) {
        Ok(()) => managed.write(&mut new),
        Err(_) => managed::remove_field(&mut new),
    }
    new
}

/// Applies an intent: returns the resulting object with its `managedFields`.
///
/// Objects of Kubernetes' own kinds need [`conform`](crate::schema::conform) afterwards: removed
/// values may be null.
pub fn apply(
    live: Option<&Value>,
    intent: &Value,
    write: &Write<'_>,
    force: Force,
) -> Result<Value, Status> {
    let mut managed = match live {
        Some(live) => Managed::read(live)
            .map_err(|what| Status::unknown(format!("failed to decode managed fields: {what}")))?,
        None => Managed::default(),
    };
    write.check_kind(intent)?;
    let updater = write.updater()?;
    let empty = write.empty();
    let base = live.unwrap_or(&empty);
    if managed.entries.is_empty() {
        let before = Write {
            manager: "before-first-apply",
            ..*write
        };
        before.track(None, base, &mut managed).map_err(|status| {
            let what = format!("failed to create manager for existing fields: {status}");
            Status::unknown(what)
        })?;
    }
    if managed::field(intent).is_some_and(|entries| !entries.is_null()) {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    validate(intent, updater.schema, Duplicates::Rejected)
        .map_err(|what| write.untyped("failed to create typed patch object", intent, &what))?;
    validate(base, updater.schema, Duplicates::Allowed)
        .map_err(|what| write.untyped("failed to create typed live object", base, &what))?;
    let id = write.id(Operation::Apply);
    let applied = updater.apply(
        base,
        &Intent {
            value: intent,
            id: &id,
            force,
        },
        &mut managed,
    )?;
    remove_unowned_fields(&mut managed, &id);
    let mut object = match applied {
        Some(object) => {
            if let Some(entry) = managed.entries.get_mut(&id) {
                entry.time = Some(write.time);
            }
            object
        }
        None => base.clone(),
    };
    managed.write(&mut object);
    Ok(object)
}

impl<'a> Write<'a> {
    fn id(&self, operation: Operation) -> ManagerId {
        let manager = match self.manager {
            "" => "unknown",
            manager => manager,
        };
        let api_version = self.kind.api_version();
        ManagerId::new(manager, operation, &api_version, self.subresource)
    }

    fn updater(&self) -> Result<Updater<'a>, Status> {
        let api_version = self.kind.api_version();
        let schema = self
            .versions
            .schema(&api_version)
            .ok_or_else(|| Status::unknown(format!("no corresponding type for {}", self.kind)))?;
        Ok(Updater {
            api_version,
            schema,
            versions: self.versions,
            reset: self.reset,
        })
    }

    /// The object that a new one is compared with.
    fn empty(&self) -> Value {
        let api_version = self.kind.api_version();
        let zero = self
            .versions
            .schema(&api_version)
            .map(|schema| schema.zero());
        let mut object = zero.filter(Value::is_object).unwrap_or_else(|| json!({}));
        if let Some(fields) = object.as_object_mut() {
            fields.insert("apiVersion".to_owned(), Value::String(api_version));
            fields.insert("kind".to_owned(), Value::from(self.kind.kind.as_str()));
        }
        object
    }

    /// Makes this manager the owner of the changes from `live` to `new`.
    fn track(
        &self,
        live: Option<&Value>,
        new: &Value,
        managed: &mut Managed,
    ) -> Result<(), Status> {
        let updater = self.updater()?;
        let empty = self.empty();
        let base = live.unwrap_or(&empty);
        for (which, object) in [("new", new), ("live", base)] {
            validate(object, updater.schema, Duplicates::Allowed).map_err(|error| {
                let what = format!("failed to convert {which} object");
                self.untyped(&what, object, &error)
            })?;
        }
        let taken = updater.update(base, new, managed).difference(never_owned());
        if !taken.is_empty() {
            let id = self.id(Operation::Update);
            let previous = managed.entries.remove(&id).map(|entry| entry.fields);
            let entry = Entry {
                fields: taken.union(previous.unwrap_or_default()),
                api_version: updater.api_version,
                time: Some(self.time),
            };
            managed.entries.insert(id, entry);
        }
        cap(managed);
        Ok(())
    }

    fn check_kind(&self, intent: &Value) -> Result<(), Status> {
        let text = |name: &str| intent.get(name).and_then(Value::as_str).unwrap_or_default();
        let sent = Kind {
            group_version: GroupVersion::from_api_version(text("apiVersion")),
            kind: text("kind").to_owned(),
        };
        if sent == *self.kind {
            Ok(())
        } else {
            Err(Status::bad_request(format!("invalid object type: {sent}")))
        }
    }

    fn untyped(&self, what: &str, object: &Value, error: &str) -> Status {
        let metadata = |name: &str| {
            object
                .get("metadata")
                .and_then(|metadata| metadata.get(name))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (namespace, name) = (metadata("namespace"), metadata("name"));
        Status::unknown(format!(
            "{what} ({namespace}/{name}; {}): {error}",
            self.kind
        ))
    }
}

/// The entries that a write starts from: those in the request, or those of the live object when the
/// request has none or invalid ones, and always for subresources.
fn tracked(live: Option<&Value>, new: &Value, write: &Write<'_>) -> Managed {
    let of_live = || {
        let read = live.map(Managed::read).and_then(Result::ok);
        read.unwrap_or_default()
    };
    if !write.subresource.is_empty() {
        return of_live();
    }
    if Managed::is_reset(new) {
        return Managed::default();
    }
    match Managed::read(new) {
        Ok(sent) if !sent.entries.is_empty() => sent,
        _ => of_live(),
    }
}

fn remove_unowned_fields(managed: &mut Managed, id: &ManagerId) {
    let Some(entry) = managed.entries.get_mut(id) else {
        return;
    };
    entry.fields = std::mem::take(&mut entry.fields).difference(never_owned());
    if entry.fields.is_empty() {
        managed.entries.remove(id);
    }
}

/// Fields that identify an object or belong to the server.
fn never_owned() -> &'static FieldSet {
    static FIELDS: LazyLock<FieldSet> = LazyLock::new(|| {
        let of_metadata = [
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "clusterName",
            "generation",
            "managedFields",
            "resourceVersion",
        ];
        let top = ["apiVersion", "kind", "metadata"];
        let below = of_metadata
            .iter()
            .map(|name| Path::fields(&["metadata", name]));
        let paths = top.iter().map(|name| Path::fields(&[name])).chain(below);
        paths.collect()
    });
    &FIELDS
}
