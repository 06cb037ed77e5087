//! StorageClass: how volumes are provisioned.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, Row};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, DeleteResponse};
use crate::node_labels::deprecation;
use crate::warning_list::Warnings;

/// How volumes are provisioned.
pub static STORAGE_CLASS: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    warnings: warn,
    ..BuiltinKind::new(groups::STORAGE, "StorageClass", "storageclasses")
};

const COLUMNS: &[Column] = &[
    Column::text("Name", Cell::Computed(class_name)).named(),
    Column::text("Provisioner", Cell::Text("/provisioner")),
    Column::text("ReclaimPolicy", Cell::TextOr("/reclaimPolicy", "Delete")),
    Column::text(
        "VolumeBindingMode",
        Cell::TextOr("/volumeBindingMode", "Immediate"),
    ),
    Column::text(
        "AllowVolumeExpansion",
        Cell::Flag("/allowVolumeExpansion", false),
    ),
    AGE,
];

fn class_name(row: &Row<'_>) -> Value {
    let annotations = row.map("/metadata/annotations");
    let is_default = annotations.is_some_and(|all| {
        [
            "storageclass.kubernetes.io/",
            "storageclass.beta.kubernetes.io/",
        ]
        .iter()
        .any(|group| all.get(&format!("{group}is-default-class")) == Some(&json!("true")))
    });
    let name = row.text("/metadata/name");
    if is_default {
        json!(format!("{name} (default)"))
    } else {
        json!(name)
    }
}

/// `GetWarningsForStorageClass`.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    for topology in FieldPath::new(object, "allowedTopologies").items() {
        for expression in topology.field("matchLabelExpressions").items() {
            let key = expression.field("key");
            if let Some(why) = deprecation(key.text()) {
                warnings.add_at(key, why);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::STORAGE_CLASS;

    #[test]
    fn deprecated_node_labels_are_warned_about() {
        let class = json!({"allowedTopologies": [{"matchLabelExpressions": [
            {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["a"]},
        ]}]});
        assert_eq!(
            STORAGE_CLASS.warnings(&class, None),
            [
                "allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use \
                 \"topology.kubernetes.io/zone\" instead"
            ]
        );
    }
}
