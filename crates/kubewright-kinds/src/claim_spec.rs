//! `PersistentVolumeClaimSpec`, which claims and templates for claims contain.

use serde_json::{Map, Value};

use crate::field_path::FieldPath;
use crate::json::object_mut;
use crate::resource_list::{round_up, warn_fractional_bytes};
use crate::warning_list::Warnings;

/// Rounds the quantities of a PersistentVolumeClaim, or of a template for one.
pub(crate) fn round_claim(object: &mut Map<String, Value>) {
    let resources = object_mut(object, "spec").and_then(|spec| object_mut(spec, "resources"));
    if let Some(resources) = resources {
        round_up(resources, &["limits", "requests"]);
    }
    if let Some(status) = object_mut(object, "status") {
        round_up(status, &["capacity", "allocatedResources"]);
    }
}

/// `GetWarningsForPersistentVolumeClaimSpec`.
pub(crate) fn warn_claim_spec(spec: FieldPath<'_>, warnings: &mut Warnings) {
    let resources = spec.field("resources");
    for list in ["requests", "limits"] {
        let list = resources.field(list);
        warn_fractional_bytes(list.key("storage"), warnings);
    }
}
