//! MutatingAdmissionPolicyBinding: applies a MutatingAdmissionPolicy.

use serde_json::Value;

use super::match_resources::validate_mutating_operations;
use super::policy_binding::{COLUMNS, validate_policy_binding};
use super::reserved_name::warn_reserved_name;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, Validation};

/// Applies a MutatingAdmissionPolicy.
pub static MUTATING_ADMISSION_POLICY_BINDING: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    warnings: warn_reserved_name,
    ..BuiltinKind::new(
        groups::ADMISSION_REGISTRATION,
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
    )
};

/// `ValidateMutatingAdmissionPolicyBinding`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    validate_policy_binding(spec, errors);
    validate_mutating_operations(spec.field("matchResources"), errors);
}
