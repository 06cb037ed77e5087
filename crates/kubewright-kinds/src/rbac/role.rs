//! Role: permissions in a namespace.

use kubewright_core::NameRule;
use serde_json::Value;

use super::rules::{Reach, validate_rules};
use crate::error_list::ErrorList;
use crate::groups;
use crate::kind::{BuiltinKind, Permission, Validation};

/// Permissions in a namespace.
pub static ROLE: BuiltinKind = BuiltinKind {
    names: NameRule::PathSegment,
    create_on_update: Permission::Allowed,
    validation: Validation::Rules(validate),
    ..BuiltinKind::new(groups::RBAC, "Role", "roles")
};

/// `ValidateRole`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    validate_rules(object, Reach::Namespace, errors);
}
