//! CSIDriver: a storage driver.

use serde_json::{Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row, or_none};
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, DeleteResponse, Permission};
use crate::warning_list::Warnings;

/// A storage driver.
pub static CSI_DRIVER: BuiltinKind = BuiltinKind {
    unconditional_update: Permission::Denied,
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    warnings: warn,
    ..BuiltinKind::new(groups::STORAGE, "CSIDriver", "csidrivers")
};

const TOKENS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI \
     driver, set to true to prevent possible logging of tokens in volume attributes";

const COLUMNS: &[Column] = &[
    NAME,
    Column::boolean("AttachRequired", Cell::Flag("/spec/attachRequired", true)),
    Column::boolean("PodInfoOnMount", Cell::Flag("/spec/podInfoOnMount", false)),
    Column::boolean(
        "StorageCapacity",
        Cell::Flag("/spec/storageCapacity", false),
    ),
    Column::text("TokenRequests", Cell::Computed(audiences)),
    Column::boolean(
        "RequiresRepublish",
        Cell::Flag("/spec/requiresRepublish", false),
    ),
    Column::text("Modes", Cell::Computed(lifecycle_modes)),
    AGE,
];

fn audiences(row: &Row<'_>) -> Value {
    match row.at("/spec/tokenRequests") {
        None => json!("<unset>"),
        Some(_) => json!(row.each("/spec/tokenRequests", "audience").join(",")),
    }
}

fn lifecycle_modes(row: &Row<'_>) -> Value {
    let modes = row.texts("/spec/volumeLifecycleModes").join(",");
    json!(or_none(modes))
}

/// Warns about a driver that requests tokens and does not set where they are passed.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    let spec = FieldPath::new(object, "spec");
    let requests = spec.field("tokenRequests");
    let is_new = |old: &Value| old.pointer("/spec/tokenRequests") != Some(requests.value());
    if !requests.is_empty() && !spec.has("serviceAccountTokenInSecrets") && old.is_none_or(is_new) {
        warnings.add(TOKENS);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CSI_DRIVER, TOKENS};

    #[test]
    fn token_requests_without_a_destination_are_warned_about() {
        let requests = json!({"spec": {"tokenRequests": [{"audience": "a"}]}});
        assert_eq!(CSI_DRIVER.warnings(&requests, None), [TOKENS]);
        assert!(CSI_DRIVER.warnings(&requests, Some(&requests)).is_empty());
        assert_eq!(CSI_DRIVER.warnings(&requests, Some(&json!({}))), [TOKENS]);
        let decided = json!({"spec": {
            "tokenRequests": [{"audience": "a"}], "serviceAccountTokenInSecrets": false,
        }});
        assert!(CSI_DRIVER.warnings(&decided, None).is_empty());
    }
}
