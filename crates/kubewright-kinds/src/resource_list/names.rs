//! The names of resources.

use kubewright_core::format::qualified_name;
use serde_json::json;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

const STANDARD: [&str; 20] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

pub(crate) fn is_hugepages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// `validateResourceName`. Returns whether the name is valid.
pub(crate) fn validate_resource_name(
    at: FieldPath<'_>,
    name: &str,
    errors: &mut ErrorList,
) -> bool {
    let problems = qualified_name(name);
    for problem in &problems {
        errors.invalid_value(at, &json!(name), problem);
    }
    if !problems.is_empty() {
        return false;
    }
    let is_standard =
        STANDARD.contains(&name) || is_hugepages(name) || name.starts_with("requests.hugepages-");
    if !name.contains('/') && !is_standard {
        let detail = "must be a standard resource type or fully qualified";
        errors.invalid_value(at, &json!(name), detail);
        return false;
    }
    true
}

/// `validateContainerResourceName`.
pub(crate) fn validate_container_resource_name(
    at: FieldPath<'_>,
    name: &str,
    errors: &mut ErrorList,
) {
    validate_resource_name(at, name, errors);
    let for_containers =
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || is_hugepages(name);
    if !name.contains('/') && !for_containers {
        let detail = "must be a standard resource for containers";
        errors.invalid_value(at, &json!(name), detail);
    }
    if name.contains('/') && !is_native(name) && !is_extended(name) {
        let detail = "doesn't follow extended resource name standard";
        errors.invalid_value(at, &json!(name), detail);
    }
}

/// `IsNativeResource`.
pub(crate) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// `IsExtendedResourceName`.
pub(crate) fn is_extended(name: &str) -> bool {
    let is_request = name.starts_with("requests.");
    !is_native(name) && !is_request && qualified_name(&format!("requests.{name}")).is_empty()
}
