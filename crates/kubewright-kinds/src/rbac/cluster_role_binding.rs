//! ClusterRoleBinding: grants a ClusterRole in all namespaces.

use kubewright_core::NameRule;
use serde_json::Value;

use super::binding::{
    COLUMNS, default_subjects, validate_role_ref, validate_same_role, validate_subjects,
};
use super::rules::Reach;
use crate::error_list::ErrorList;
use crate::groups;
use crate::kind::{BuiltinKind, Permission, Validation};

/// Grants a ClusterRole in all namespaces.
pub static CLUSTER_ROLE_BINDING: BuiltinKind = BuiltinKind {
    names: NameRule::PathSegment,
    create_on_update: Permission::Allowed,
    declared_columns: COLUMNS,
    defaults: default_subjects,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::RBAC, "ClusterRoleBinding", "clusterrolebindings")
};

/// `ValidateClusterRoleBinding`, `ValidateClusterRoleBindingUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    validate_role_ref(object, &["ClusterRole"], errors);
    validate_subjects(object, Reach::Cluster, errors);
    if let Some(old) = old {
        validate_same_role(object, old, errors);
    }
}
