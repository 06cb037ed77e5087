//! PersistentVolume: a piece of storage.

use serde_json::{Map, Value, json};

use super::volume_fields::{ATTRIBUTES, CLASS, MODE, STATUS, USE_CLASS, access_modes, class};
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::object_mut;
use crate::kind::{BuiltinKind, ControllerSupport, DeleteResponse};
use crate::label_selector::SelectorValues;
use crate::node_labels::warn_node_selector_term;
use crate::resource_list::round_up;
use crate::warning_list::Warnings;

/// A piece of storage.
pub static PERSISTENT_VOLUME: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: apply_defaults,
    prepare_create,
    warnings: warn,
    ..BuiltinKind::new(groups::CORE, "PersistentVolume", "persistentvolumes")
};

const OPTIONS: &str = "volume.beta.kubernetes.io/mount-options";

const USE_OPTIONS: &str = "deprecated since v1.31; use \"mountOptions\" attribute instead";

/// Volume types that no longer work: the field, its name in warnings, the warning.
const REMOVED: [(&str, &str, &str); 6] = [
    (
        "cephfs",
        "cephfs",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "scaleIO",
        "scaleIO",
        "deprecated in v1.16, non-functional in v1.22+",
    ),
    (
        "storageos",
        "storageOS",
        "deprecated in v1.22, non-functional in v1.25+",
    ),
    (
        "glusterfs",
        "glusterfs",
        "deprecated in v1.25, non-functional in v1.26+",
    ),
    (
        "rbd",
        "rbd",
        "deprecated in v1.28, non-functional in v1.31+",
    ),
];

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Capacity", Cell::TextOr("/spec/capacity/storage", "0")),
    Column::text(
        "Access Modes",
        Cell::Computed(|row| json!(access_modes(row, "/spec/accessModes"))),
    ),
    Column::text(
        "Reclaim Policy",
        Cell::Text("/spec/persistentVolumeReclaimPolicy"),
    ),
    STATUS,
    Column::text("Claim", Cell::Computed(claim)),
    Column::text("StorageClass", Cell::Computed(class)),
    ATTRIBUTES,
    Column::text("Reason", Cell::Text("/status/reason")),
    AGE,
    MODE,
];

fn claim(row: &Row<'_>) -> Value {
    match row.at("/spec/claimRef") {
        None => json!(""),
        Some(_) => json!(format!(
            "{}/{}",
            row.text("/spec/claimRef/namespace"),
            row.text("/spec/claimRef/name")
        )),
    }
}

/// `SetDefaults_ResourceList`.
fn apply_defaults(object: &mut Map<String, Value>) {
    if let Some(spec) = object_mut(object, "spec") {
        round_up(spec, &["capacity"]);
    }
}

fn prepare_create(volume: &mut Map<String, Value>) {
    volume.insert("status".to_owned(), json!({"phase": "Pending"}));
}

/// `GetWarningsForPersistentVolume`.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let (metadata, spec) = (
        FieldPath::new(object, "metadata"),
        FieldPath::new(object, "spec"),
    );
    let annotations = metadata.field("annotations");
    for (name, detail) in [(CLASS, USE_CLASS), (OPTIONS, USE_OPTIONS)] {
        if annotations.has(name) {
            warnings.add_at(annotations.key(name), detail);
        }
    }
    let policy = spec.field("persistentVolumeReclaimPolicy");
    if policy.text() == "Recycle" {
        let detail = "The Recycle reclaim policy is deprecated. Instead, the recommended approach \
             is to use dynamic provisioning.";
        warnings.add_at(policy, detail);
    }
    let affinity = spec.field("nodeAffinity");
    let required = affinity.field("required");
    for term in required.field("nodeSelectorTerms").items() {
        warn_node_selector_term(term, SelectorValues::Any, warnings);
    }
    for (field, spelled, since) in REMOVED {
        if spec.has(field) {
            warnings.add_at(spec.field(spelled), since);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::PERSISTENT_VOLUME;
    use serde_json::json;

    #[test]
    fn deprecated_fields_are_warned_about() {
        let volume = json!({
            "metadata": {"annotations": {
                "volume.beta.kubernetes.io/mount-options": "ro",
                "volume.beta.kubernetes.io/storage-class": "a",
            }},
            "spec": {
                "persistentVolumeReclaimPolicy": "Recycle",
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "a", "operator": "Exists"},
                    {"key": "app.kubernetes.io/created-by", "operator": "Exists"},
                ]}]}},
                "storageos": {}, "cephfs": {"monitors": ["a"]},
            },
        });
        assert_eq!(
            PERSISTENT_VOLUME.warnings(&volume, Some(&volume)),
            [
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since \
                 v1.8; use \"storageClassName\" attribute instead",
                "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since \
                 v1.31; use \"mountOptions\" attribute instead",
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. \
                 Instead, the recommended approach is to use dynamic provisioning.",
                "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[1].key: \
                 app.kubernetes.io/created-by is deprecated since v1.9",
                "spec.cephfs: deprecated in v1.28, non-functional in v1.31+",
                "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
            ]
        );
    }
}
