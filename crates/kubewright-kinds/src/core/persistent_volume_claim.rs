//! PersistentVolumeClaim: a request for storage.

use kubewright_core::Quantity;
use serde_json::{Map, Value, json};

use super::volume_fields::{ATTRIBUTES, CLASS, MODE, STATUS, USE_CLASS, access_modes, class};
use crate::claim_spec::{round_claim, warn_claim_spec};
use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, ControllerSupport, DeleteResponse, QuotaUsage, add_one};
use crate::warning_list::Warnings;

/// A request for storage.
pub static PERSISTENT_VOLUME_CLAIM: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    controller: ControllerSupport::Missing,
    defaults: round_claim,
    prepare_create,
    warnings: warn,
    quota_usage: add_usage,
    ..BuiltinKind::new(
        groups::CORE,
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
    )
};

const COLUMNS: &[Column] = &[
    NAME,
    STATUS,
    Column::text("Volume", Cell::Text("/spec/volumeName")),
    Column::text("Capacity", Cell::Computed(claimed_capacity)),
    Column::text("Access Modes", Cell::Computed(claimed_modes)),
    Column::text("StorageClass", Cell::Computed(class)),
    ATTRIBUTES,
    AGE,
    MODE,
];

fn claimed_capacity(row: &Row<'_>) -> Value {
    match row.text("/spec/volumeName") {
        "" => json!(""),
        _ => json!(row.text_or("/status/capacity/storage", "0")),
    }
}

fn claimed_modes(row: &Row<'_>) -> Value {
    match row.text("/spec/volumeName") {
        "" => json!(""),
        _ => json!(access_modes(row, "/status/accessModes")),
    }
}

fn prepare_create(claim: &mut Map<String, Value>) {
    claim.insert("status".to_owned(), json!({"phase": "Pending"}));
}

fn add_usage(claim: &Value, usage: &mut QuotaUsage) {
    add_one(usage, "persistentvolumeclaims");
    let size = claim.pointer("/spec/resources/requests/storage");
    if let Some(size) = size.and_then(Value::as_str).and_then(Quantity::parse) {
        usage.insert("requests.storage".to_owned(), size);
    }
}

/// `GetWarningsForPersistentVolumeClaim`.
fn warn(object: &Value, _old: Option<&Value>, warnings: &mut Warnings) {
    let metadata = FieldPath::new(object, "metadata");
    let annotations = metadata.field("annotations");
    if annotations.has(CLASS) {
        warnings.add_at(annotations.key(CLASS), USE_CLASS);
    }
    warn_claim_spec(FieldPath::new(object, "spec"), warnings);
}

#[cfg(test)]
mod tests {
    use crate::core::PERSISTENT_VOLUME_CLAIM;
    use serde_json::json;

    #[test]
    fn fraction_of_a_byte_is_warned_about() {
        let claim = json!({
            "metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "a"}},
            "spec": {"resources": {
                "limits": {"storage": "0.1Gi"}, "requests": {"storage": "1Gi"},
            }},
        });
        assert_eq!(
            PERSISTENT_VOLUME_CLAIM.warnings(&claim, None),
            [
                "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since \
                 v1.8; use \"storageClassName\" attribute instead",
                "spec.resources.limits[storage]: fractional byte value \"107374182400m\" is \
                 invalid, must be an integer",
            ]
        );
    }
}
