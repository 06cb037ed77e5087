use std::collections::BTreeSet;

use super::{At, Findings, SelectorValues, label_selector};
use crate::admission::matching::check_rule;
use crate::kinds::NameRule;

/// What can be done to an object that a policy may change.
const MUTATING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// `validateMatchResources`.
pub(super) fn match_resources(at: At<'_>, findings: &mut Findings) {
    if !at.is_set() {
        return;
    }
    findings.one_of(at.field("matchPolicy"), &["Equivalent", "Exact"]);
    for name in ["namespaceSelector", "objectSelector"] {
        let selector = at.field(name);
        match selector.is_set() {
            true => label_selector(selector, SelectorValues::Checked, findings),
            false => findings.required(selector, ""),
        }
    }
    for name in ["resourceRules", "excludeResourceRules"] {
        for rule in at.field(name).items() {
            named_rule(rule, findings);
        }
    }
}

/// `validateNamedRuleWithOperations`.
fn named_rule(rule: At<'_>, findings: &mut Findings) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for name in rule.field("resourceNames").items() {
        findings.problems(name, NameRule::PathSegment.problems(name.text()));
        if !seen.insert(name.text()) {
            findings.duplicate(name);
        }
    }
    let mut causes = Vec::new();
    check_rule(rule.value(), &rule.path(), &mut causes);
    causes.into_iter().for_each(|cause| findings.add(cause));
}

/// Nothing is changed in what is deleted.
pub(super) fn mutating_operations(at: At<'_>, findings: &mut Findings) {
    let rules = at.field("resourceRules");
    for rule in rules.items() {
        let operations = rules.field("operations");
        for operation in rule.field("operations").items() {
            if !MUTATING.contains(&operation.text()) {
                findings.unsupported(operations.with(operation.value()), &MUTATING);
            }
        }
    }
}
