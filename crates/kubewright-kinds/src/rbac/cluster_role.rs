//! ClusterRole: permissions for all namespaces.

use kubewright_core::NameRule;
use serde_json::Value;

use super::rules::{Reach, validate_rules};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, Permission, Validation};
use crate::label_selector::{SelectorValues, validate_label_selector};

/// Permissions for all namespaces.
pub static CLUSTER_ROLE: BuiltinKind = BuiltinKind {
    names: NameRule::PathSegment,
    create_on_update: Permission::Allowed,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::RBAC, "ClusterRole", "clusterroles")
};

/// `ValidateClusterRole`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    validate_rules(object, Reach::Cluster, errors);
    let rule = FieldPath::new(object, "aggregationRule");
    if !rule.is_set() {
        return;
    }
    let selectors = rule.field("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        errors.required(selectors, detail);
    }
    for selector in selectors.items() {
        let before = errors.count();
        validate_label_selector(selector, SelectorValues::Checked, errors);
        if errors.count() > before {
            errors.invalid_value(selector, &Value::Null, "invalid label selector.");
        }
    }
}
