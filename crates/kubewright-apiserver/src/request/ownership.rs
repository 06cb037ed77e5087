use std::sync::Arc;

use jiff::Timestamp;
use kubewright_core::Kind;
use kubewright_wire::apply::{self, Force, ServedVersions, Write};
use kubewright_wire::fields::{FieldSet, Path};
use kubewright_wire::schema::Schema;
use kubewright_wire::status::Status;
use serde_json::Value;

use super::known::{KnownVersions, TargetVersions};
use super::metadata::Part;
use super::target::Target;
use crate::kinds::reset_on_status_write;
use crate::store::Object;
use crate::who::User;

/// In whose name, when and where fields are written.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub(super) user: User,
    pub(super) manager: String,
    pub(super) subresource: Option<String>,
    pub(super) part: Part,
    pub(super) now: Timestamp,
    /// What is known of objects in versions of other writers.
    pub(super) versions: Arc<KnownVersions>,
}

/// Notes who owns which fields after a write that is no apply.
pub(super) fn track(target: &Target, old: Option<&Object>, new: Value, writer: &Writer) -> Value {
    with_write(target, writer, |write| {
        apply::update(old.map(Object::value), new, write)
    })
}

/// The same for a part of an object that has a built-in kind of its own, such as a `TokenRequest`.
pub(super) fn track_part(kind: &Kind, new: Value, writer: &Writer) -> Value {
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
    apply::update(None, new, &write)
}

/// Merges an applied configuration into the stored object.
pub(super) fn merge(
    target: &Target,
    old: Option<&Object>,
    applied: &Value,
    writer: &Writer,
    force: Force,
) -> Result<Value, Status> {
    with_write(target, writer, |write| {
        apply::apply(old.map(Object::value), applied, write, force)
    })
}

fn with_write<T>(target: &Target, writer: &Writer, run: impl FnOnce(&Write<'_>) -> T) -> T {
    let versions = match target.served.custom() {
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
    let versions = TargetVersions::new(target, versions, &writer.versions);
    run(&Write {
        kind: target.kind(),
        versions: &versions,
        manager: &writer.manager,
        subresource: writer.subresource.as_deref().unwrap_or_default(),
        time: writer.now,
        reset: &reset_fields(target, writer.part),
    })
}

/// The fields that a write to this part of the object cannot change, and so cannot own.
fn reset_fields(target: &Target, part: Part) -> FieldSet {
    let is_custom = target.served.custom().is_some();
    let paths: &[&str] = match part {
        Part::Main if target.served.has_status() => &["status"],
        Part::Status if is_custom => &["metadata", "spec"],
        Part::Status => &["spec"],
        Part::Main | Part::Whole => &[],
    };
    let more = match part {
        Part::Status if !is_custom => reset_on_status_write(target.kind()),
        _ => &[],
    };
    let paths = paths.iter().map(|name| Path::fields(&[name]));
    paths
        .chain(more.iter().map(|path| Path::fields(path)))
        .collect()
}
