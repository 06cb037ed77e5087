//! `MatchResources`: which requests a policy or its binding is for.

use std::collections::BTreeSet;

use kubewright_core::NameRule;

use super::rules::check_rule;
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::{SelectorValues, validate_label_selector};

/// The operations of mutating policies: a deleted object cannot be changed.
const MUTATING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// `validateMatchResources`.
pub(super) fn validate_match_resources(at: FieldPath<'_>, errors: &mut ErrorList) {
    if !at.is_set() {
        return;
    }
    errors.one_of(at.field("matchPolicy"), &["Equivalent", "Exact"]);
    for name in ["namespaceSelector", "objectSelector"] {
        let selector = at.field(name);
        if selector.is_set() {
            validate_label_selector(selector, SelectorValues::Checked, errors);
        } else {
            errors.required(selector, "");
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for rule in at.field(name).items() {
            validate_named_rule(rule, errors);
        }
    }
}

/// `validateNamedRuleWithOperations`.
fn validate_named_rule(rule: FieldPath<'_>, errors: &mut ErrorList) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for name in rule.field("resourceNames").items() {
        errors.problems(name, NameRule::PathSegment.problems(name.text()));
        if !seen.insert(name.text()) {
            errors.duplicate(name);
        }
    }
    let mut causes = Vec::new();
    check_rule(rule.value(), &rule.path(), &mut causes);
    causes.into_iter().for_each(|cause| errors.add(cause));
}

/// Validates the operations of a mutating policy.
pub(super) fn validate_mutating_operations(at: FieldPath<'_>, errors: &mut ErrorList) {
    let rules = at.field("resourceRules");
    for rule in rules.items() {
        let operations = rules.field("operations");
        for operation in rule.field("operations").items() {
            if !MUTATING.contains(&operation.text()) {
                errors.unsupported(operations.with(operation.value()), &MUTATING);
            }
        }
    }
}
