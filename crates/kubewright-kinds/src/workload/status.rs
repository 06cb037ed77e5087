//! The replicas in the status of workloads.

use serde_json::json;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

pub(crate) fn validate_at_most_replicas(status: FieldPath<'_>, name: &str, errors: &mut ErrorList) {
    let found = count(status, name);
    if found > count(status, "replicas") {
        let detail = "cannot be greater than status.replicas";
        errors.invalid_value(status.field(name), &json!(found), detail);
    }
}

pub(crate) fn validate_ready_and_available(status: FieldPath<'_>, errors: &mut ErrorList) {
    validate_at_most_replicas(status, "readyReplicas", errors);
    validate_at_most_replicas(status, "availableReplicas", errors);
    let available = count(status, "availableReplicas");
    if available > count(status, "readyReplicas") {
        let at = status.field("availableReplicas");
        let detail = "cannot be greater than readyReplicas";
        errors.invalid_value(at, &json!(available), detail);
    }
}

fn count(status: FieldPath<'_>, name: &str) -> i64 {
    status.field(name).number().unwrap_or(0)
}
