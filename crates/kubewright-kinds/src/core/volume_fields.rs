//! What the tables and warnings of volumes and claims have in common.

use serde_json::{Value, json};

use crate::columns::{Cell, Column, Row};

pub(super) const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) const USE_CLASS: &str =
    "deprecated since v1.8; use \"storageClassName\" attribute instead";

pub(super) const ATTRIBUTES: Column = Column::text(
    "VolumeAttributesClass",
    Cell::TextOr("/spec/volumeAttributesClassName", "<unset>"),
);

pub(super) const MODE: Column =
    Column::text("VolumeMode", Cell::TextOr("/spec/volumeMode", "<unset>")).wide();

pub(super) const STATUS: Column = Column::text("Status", Cell::Computed(phase));

fn phase(row: &Row<'_>) -> Value {
    if row.is_terminating() {
        json!("Terminating")
    } else {
        json!(row.text("/status/phase"))
    }
}

/// The abbreviated access modes, in the order of Kubernetes.
pub(super) fn access_modes(row: &Row<'_>, path: &str) -> String {
    let modes = row.texts(path);
    let short = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let shown: Vec<&str> = short
        .into_iter()
        .filter(|(mode, _)| modes.contains(mode))
        .map(|(_, short)| short)
        .collect();
    shown.join(",")
}

/// The storage class; the deprecated annotation overrides the field.
pub(super) fn class(row: &Row<'_>) -> Value {
    let annotations = row.map("/metadata/annotations");
    let annotated = annotations.and_then(|all| all.get(CLASS)?.as_str());
    json!(annotated.unwrap_or_else(|| row.text("/spec/storageClassName")))
}
