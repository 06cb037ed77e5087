//! Field ownership: `managedFields`.

use std::sync::Arc;

use jiff::Timestamp;
use kubewright_core::Kind;
use kubewright_wire::apply::{self as managed_fields, Force, ServedVersions, Write};
use kubewright_wire::fields::{FieldSet, Path};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::known_versions::{KnownVersions, TargetVersions};
use super::part::Part;
use crate::request::api::Api;
use crate::request::message::ApiRequest;
use crate::request::options::WriteOptions;
use crate::request::target::Target;
use crate::store::{Object, metadata_mut};

/// The manager of the fields that a write sets.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(super) manager: String,
    pub(super) subresource: Option<String>,
    pub(super) part: Part,
    pub(super) now: Timestamp,
    /// Conversions to the versions of other writers.
    pub(super) versions: Arc<KnownVersions>,
}

impl Writer {
    /// The writer of a request to a part of an object.
    pub(crate) fn of(api: &Api, request: &ApiRequest, options: &WriteOptions, part: Part) -> Self {
        Self {
            manager: options.manager(&request.user_agent),
            subresource: request.route.subresource.clone(),
            part,
            now: api.clock.now(),
            versions: Arc::default(),
        }
    }
}

/// Updates `managedFields` after a write other than apply.
pub(super) fn track(target: &Target, old: Option<&Object>, new: Value, writer: &Writer) -> Value {
    with_write(target, writer, |write| {
        managed_fields::update(old.map(Object::value), new, write)
    })
}

/// Sets `managedFields` of an object that is not stored: a `TokenRequest` or a review.
pub(crate) fn track_unstored(kind: &Kind, new: Value, writer: &Writer) -> Value {
    let Some(schema) = Schema::builtin().kind(kind) else {
        return new;
    };
    let write = Write {
        kind,
        versions: &ServedVersions::one(kind.api_version(), schema),
        manager: &writer.manager,
        subresource: writer.subresource.as_deref().unwrap_or_default(),
        time: writer.now,
        reset: &FieldSet::default(),
    };
    managed_fields::update(None, new, &write)
}

/// Merges an applied configuration into the stored object, and updates `managedFields`.
pub(super) fn apply(
    target: &Target,
    old: Option<&Object>,
    applied: &Value,
    writer: &Writer,
    force: Force,
) -> Result<Value, Status> {
    with_write(target, writer, |write| {
        managed_fields::apply(old.map(Object::value), applied, write, force)
    })
}

fn with_write<T>(target: &Target, writer: &Writer, run: impl FnOnce(&Write<'_>) -> T) -> T {
    let served = match target.resource.custom() {
        Some(custom) => custom
            .schemas()
            .filter_map(|schema| Some((schema.kind().api_version(), schema.of_kind()?)))
            .fold(ServedVersions::default(), |versions, (version, schema)| {
                versions.and(version, schema)
            }),
        None => match Schema::builtin().kind(target.kind()) {
            Some(schema) => ServedVersions::one(target.kind().api_version(), schema),
            None => ServedVersions::default(),
        },
    };
    let versions = TargetVersions::new(target, served, &writer.versions);
    run(&Write {
        kind: target.kind(),
        versions: &versions,
        manager: &writer.manager,
        subresource: writer.subresource.as_deref().unwrap_or_default(),
        time: writer.now,
        reset: &reset_fields(target, writer.part),
    })
}

/// The fields that a write to this part of the object cannot set, and so cannot own.
fn reset_fields(target: &Target, part: Part) -> FieldSet {
    let is_custom = target.resource.custom().is_some();
    let paths: &[&str] = match part {
        Part::Main if target.resource.has_status() => &["status"],
        Part::Status if is_custom => &["metadata", "spec"],
        Part::Status => &["spec"],
        Part::Main | Part::Whole => &[],
    };
    let of_kind = match part {
        Part::Status if !is_custom => target.resource.strategy.status.reset_fields,
        _ => &[],
    };
    let top_level = paths.iter().map(|name| Path::fields(&[name]));
    top_level
        .chain(of_kind.iter().map(|path| Path::fields(path)))
        .collect()
}

/// Removes the times of the writer's entries, which a scale does not have. Entries without a time
/// sort first (k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go).
pub(super) fn drop_times(value: &mut Value, writer: &Writer) {
    let metadata = metadata_mut(value);
    let Some(entries) = metadata
        .get_mut("managedFields")
        .and_then(Value::as_array_mut)
    else {
        return;
    };
    for entry in entries.iter_mut() {
        if entry["subresource"].as_str() == writer.subresource.as_deref()
            && let Some(members) = entry.as_object_mut()
        {
            members.remove("time");
        }
    }
    entries.sort_by_key(|entry| (entry["operation"] != "Apply", entry.get("time").is_some()));
}
