//! ValidatingAdmissionPolicyBinding: applies a ValidatingAdmissionPolicy.

use std::collections::BTreeSet;

use serde_json::Value;

use super::policy_binding::{COLUMNS, validate_policy_binding};
use super::reserved_name::warn_reserved_name;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::kind::{BuiltinKind, FinalizerRule, Generation, Permission, Validation};

/// Applies a ValidatingAdmissionPolicy.
pub static VALIDATING_ADMISSION_POLICY_BINDING: BuiltinKind = BuiltinKind {
    finalizers: FinalizerRule::QualifiedName,
    unconditional_update: Permission::Denied,
    generation: Generation::Content,
    declared_columns: COLUMNS,
    validation: Validation::Rules(validate),
    warnings: warn_reserved_name,
    ..BuiltinKind::new(
        groups::ADMISSION_REGISTRATION,
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
    )
};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

const BOTH: &str = "must not contain both Deny and Warn (repeating the same validation failure \
                    information in the API response and headers serves no purpose)";

/// `ValidateValidatingAdmissionPolicyBinding`.
fn validate(object: &Value, _: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    validate_policy_binding(spec, errors);
    validate_actions(spec.field("validationActions"), errors);
}

/// `validateValidationActions`.
fn validate_actions(actions: FieldPath<'_>, errors: &mut ErrorList) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for action in actions.items() {
        if !ACTIONS.contains(&action.text()) {
            errors.unsupported(action, &ACTIONS);
        }
        if !seen.insert(action.text()) {
            errors.duplicate(action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        errors.invalid(actions, BOTH);
    }
    if seen.is_empty() {
        errors.required(actions, "at least one validation action is required");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::VALIDATING_ADMISSION_POLICY_BINDING;

    fn errors(spec: Value) -> String {
        let binding = json!({"spec": spec});
        VALIDATING_ADMISSION_POLICY_BINDING
            .errors(&binding, None)
            .join("; ")
    }

    #[test]
    fn binding_has_a_policy_and_actions() {
        assert_eq!(
            errors(json!({"policyName": "p", "validationActions": ["Deny"]})),
            ""
        );
        assert_eq!(
            errors(json!({})),
            "spec.policyName: Required value; spec.validationActions: Required value: at least \
             one validation action is required"
        );
        assert_eq!(
            errors(json!({"policyName": "p", "validationActions": ["Deny", "Deny", "Stop"]})),
            "spec.validationActions[1]: Duplicate value: \"Deny\"; spec.validationActions[2]: \
             Unsupported value: \"Stop\": supported values: \"Audit\", \"Deny\", \"Warn\""
        );
        let both = errors(json!({"policyName": "p", "validationActions": ["Deny", "Warn"]}));
        assert!(
            both.starts_with(
                "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not"
            ),
            "{both}"
        );
    }

    #[test]
    fn params_have_a_name_or_a_selector() {
        let with = |reference: Value| {
            errors(json!({"policyName": "p", "validationActions": ["Warn"], "paramRef": reference}))
        };
        assert_eq!(
            with(json!({"name": "a", "parameterNotFoundAction": "Deny"})),
            ""
        );
        assert_eq!(
            with(json!({})),
            "spec.paramRef: Required value: one of name or selector must be specified; \
             spec.paramRef.parameterNotFoundAction: Required value"
        );
        assert_eq!(
            with(json!({"name": "a", "selector": {}, "parameterNotFoundAction": "Maybe"})),
            "spec.paramRef.name: Forbidden: name and selector are mutually exclusive; \
             spec.paramRef.selector: Forbidden: name and selector are mutually exclusive; \
             spec.paramRef.parameterNotFoundAction: Unsupported value: \"Maybe\": supported \
             values: \"Deny\", \"Allow\""
        );
    }
}
