//! CSIStorageCapacity: the storage that is left in a topology segment.

use serde_json::Value;

use crate::columns::{Cell, Column, NAME};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, Permission};
use crate::node_labels::{deprecation, warn_node_label};
use crate::warning_list::Warnings;

/// The storage that is left in a topology segment.
pub static CSI_STORAGE_CAPACITY: BuiltinKind = BuiltinKind {
    unconditional_update: Permission::Denied,
    declared_columns: COLUMNS,
    warnings: warn,
    ..BuiltinKind::new(
        groups::STORAGE,
        "CSIStorageCapacity",
        "csistoragecapacities",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("StorageClassName", Cell::Text("/storageClassName")),
    Column::text("Capacity", Cell::TextOr("/capacity", "<unset>")),
];

/// `GetWarningsForCSIStorageCapacity`.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let topology = FieldPath::new(object, "nodeTopology");
    for expression in topology.field("matchExpressions").items() {
        warn_node_label(expression.field("key"), warnings);
    }
    let labels = topology.field("matchLabels");
    for (label, _) in labels.entries() {
        if let Some(why) = deprecation(label) {
            warnings.add_at(labels.field(label), why);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CSI_STORAGE_CAPACITY;

    #[test]
    fn deprecated_node_labels_are_warned_about() {
        let capacity = json!({"nodeTopology": {
            "matchExpressions": [
                {"key": "failure-domain.beta.kubernetes.io/zone", "operator": "Exists"},
            ],
            "matchLabels": {"failure-domain.beta.kubernetes.io/zone": "a"},
        }});
        assert_eq!(
            CSI_STORAGE_CAPACITY.warnings(&capacity, None),
            [
                "nodeTopology.matchExpressions[0].key: failure-domain.beta.kubernetes.io/zone is \
                 deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
                "nodeTopology.matchLabels.failure-domain.beta.kubernetes.io/zone: deprecated \
                 since v1.17; use \"topology.kubernetes.io/zone\" instead",
            ]
        );
    }
}
