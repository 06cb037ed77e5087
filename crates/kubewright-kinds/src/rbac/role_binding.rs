//! RoleBinding: grants a role in a namespace.

use kubewright_core::NameRule;
use serde_json::Value;

use super::binding::{
    COLUMNS, default_subjects, validate_role_ref, validate_same_role, validate_subjects,
};
use super::rules::Reach;
use crate::error_list::ErrorList;
use crate::groups;
use crate::kind::{BuiltinKind, Permission, Validation};

/// Grants a role in a namespace.
pub static ROLE_BINDING: BuiltinKind = BuiltinKind {
    names: NameRule::PathSegment,
    create_on_update: Permission::Allowed,
    declared_columns: COLUMNS,
    defaults: default_subjects,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::RBAC, "RoleBinding", "rolebindings")
};

/// `ValidateRoleBinding`, `ValidateRoleBindingUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    validate_role_ref(object, &["Role", "ClusterRole"], errors);
    validate_subjects(object, Reach::Namespace, errors);
    if let Some(old) = old {
        validate_same_role(object, old, errors);
    }
}
