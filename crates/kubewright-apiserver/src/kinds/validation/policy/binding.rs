use std::collections::BTreeSet;

use serde_json::Value;

use super::matching::{match_resources, mutating_operations};
use super::{At, Findings, SelectorValues, label_selector};
use crate::kinds::NameRule;

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];
const EXCLUSIVE: &str = "name and selector are mutually exclusive";
const BOTH: &str = "must not contain both Deny and Warn (repeating the same validation failure \
                    information in the API response and headers serves no purpose)";

/// `ValidateValidatingAdmissionPolicyBinding`.
pub(in crate::kinds::validation) fn validating_binding(
    object: &Value,
    _: Option<&Value>,
    findings: &mut Findings,
) {
    let spec = At::top(object, "spec");
    check_binding(spec, findings);
    check_actions(spec.field("validationActions"), findings);
}

/// `ValidateMutatingAdmissionPolicyBinding`.
pub(in crate::kinds::validation) fn mutating_binding(
    object: &Value,
    _: Option<&Value>,
    findings: &mut Findings,
) {
    let spec = At::top(object, "spec");
    check_binding(spec, findings);
    mutating_operations(spec.field("matchResources"), findings);
}

fn check_binding(spec: At<'_>, findings: &mut Findings) {
    let policy = spec.field("policyName");
    match policy.text() {
        "" => findings.required(policy, ""),
        name => findings.problems(policy, NameRule::Subdomain.problems(name)),
    }
    let params = spec.field("paramRef");
    if params.is_set() {
        check_params(params, findings);
    }
    match_resources(spec.field("matchResources"), findings);
}

/// `validateParamRef`.
fn check_params(params: At<'_>, findings: &mut Findings) {
    let (name, selector) = (params.field("name"), params.field("selector"));
    let has_name = !name.text().is_empty();
    if has_name {
        findings.problems(name, NameRule::PathSegment.problems(name.text()));
        if selector.is_set() {
            findings.forbidden(name, EXCLUSIVE);
        }
    }
    if selector.is_set() {
        label_selector(selector, SelectorValues::Checked, findings);
        if has_name {
            findings.forbidden(selector, EXCLUSIVE);
        }
    }
    if !has_name && !selector.is_set() {
        findings.required(params, "one of name or selector must be specified");
    }
    findings.one_of(params.field("parameterNotFoundAction"), &["Deny", "Allow"]);
}

/// `validateValidationActions`.
fn check_actions(actions: At<'_>, findings: &mut Findings) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for action in actions.items() {
        if !ACTIONS.contains(&action.text()) {
            findings.unsupported(action, &ACTIONS);
        }
        if !seen.insert(action.text()) {
            findings.duplicate(action);
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        findings.invalid(actions, BOTH);
    }
    if seen.is_empty() {
        findings.required(actions, "at least one validation action is required");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Findings, validating_binding};

    fn told(spec: Value) -> String {
        let mut findings = Findings::default();
        validating_binding(&json!({"spec": spec}), None, &mut findings);
        let causes = findings.into_causes();
        let texts: Vec<String> = causes.iter().map(|cause| cause.with_field()).collect();
        texts.join("; ")
    }

    #[test]
    fn a_binding_names_its_policy_and_what_happens() {
        assert_eq!(
            told(json!({"policyName": "p", "validationActions": ["Deny"]})),
            ""
        );
        assert_eq!(
            told(json!({})),
            "spec.policyName: Required value; spec.validationActions: Required value: at least \
             one validation action is required"
        );
        assert_eq!(
            told(json!({"policyName": "p", "validationActions": ["Deny", "Deny", "Stop"]})),
            "spec.validationActions[1]: Duplicate value: \"Deny\"; spec.validationActions[2]: \
             Unsupported value: \"Stop\": supported values: \"Audit\", \"Deny\", \"Warn\""
        );
        let both = told(json!({"policyName": "p", "validationActions": ["Deny", "Warn"]}));
        assert!(
            both.starts_with(
                "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not"
            ),
            "{both}"
        );
    }

    #[test]
    fn params_are_named_or_selected() {
        let with = |reference: Value| {
            told(json!({"policyName": "p", "validationActions": ["Warn"], "paramRef": reference}))
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
