//! Affinity and topology spread constraints.

use std::collections::BTreeMap;

use kubewright_core::format::{label, label_value, qualified_name, subdomain};
use serde_json::json;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::{SelectorValues, validate_label_selector};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `validateAffinity`.
pub(super) fn affinity(at: FieldPath<'_>, errors: &mut ErrorList) {
    node_affinity(at.field("nodeAffinity"), errors);
    for kind in ["podAffinity", "podAntiAffinity"] {
        let own = at.field(kind);
        for term in own.field(REQUIRED).items() {
            pod_term(term, errors);
        }
        for weighted in own.field(PREFERRED).items() {
            weight(weighted.field("weight"), errors);
            pod_term(weighted.field("podAffinityTerm"), errors);
        }
    }
}

fn node_affinity(at: FieldPath<'_>, errors: &mut ErrorList) {
    let required = at.field(REQUIRED);
    if required.is_set() {
        let terms = required.field("nodeSelectorTerms");
        if terms.is_empty() {
            errors.required(terms, "must have at least one node selector term");
        }
        for term in terms.items() {
            node_term(term, SelectorValues::Checked, errors);
        }
    }
    for preferred in at.field(PREFERRED).items() {
        weight(preferred.field("weight"), errors);
        node_term(preferred.field("preference"), SelectorValues::Any, errors);
    }
}

fn weight(at: FieldPath<'_>, errors: &mut ErrorList) {
    let weight = at.number().unwrap_or(0);
    if !(1..=100).contains(&weight) {
        errors.invalid_value(at, &json!(weight), "must be in the range 1-100");
    }
}

/// `ValidateNodeSelectorTerm`.
fn node_term(at: FieldPath<'_>, values: SelectorValues, errors: &mut ErrorList) {
    for requirement in at.field("matchExpressions").items() {
        let given = requirement.field("values");
        match requirement.text_of("operator") {
            "In" | "NotIn" if given.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                errors.required(given, detail);
            }
            "Exists" | "DoesNotExist" if !given.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                errors.forbidden(given, detail);
            }
            "Gt" | "Lt" if given.len() != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(given, detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => invalid_operator(requirement.field("operator"), errors),
        }
        let key = requirement.field("key");
        errors.problems(key, qualified_name(key.text()));
        if values == SelectorValues::Checked {
            for value in given.items() {
                errors.problems(value, label_value(value.text()));
            }
        }
    }
    for requirement in at.field("matchFields").items() {
        field_requirement(requirement, errors);
    }
}

fn field_requirement(at: FieldPath<'_>, errors: &mut ErrorList) {
    let given = at.field("values");
    match at.text_of("operator") {
        "In" | "NotIn" if given.len() != 1 => {
            let detail =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            errors.required(given, detail);
        }
        "In" | "NotIn" => {}
        _ => invalid_operator(at.field("operator"), errors),
    }
    if at.text_of("key") != "metadata.name" {
        return errors.invalid_text(at.field("key"), "not a valid field selector key");
    }
    for value in given.items() {
        errors.problems(value, subdomain(value.text()));
    }
}

fn invalid_operator(at: FieldPath<'_>, errors: &mut ErrorList) {
    errors.invalid_text(at, "not a valid selector operator");
}

/// `validatePodAffinityTerm`.
fn pod_term(at: FieldPath<'_>, errors: &mut ErrorList) {
    for selector in ["labelSelector", "namespaceSelector"] {
        validate_label_selector(at.field(selector), SelectorValues::Checked, errors);
    }
    for name in at.field("namespaces").items() {
        errors.problems(at.field("namespace").with(name.value()), label(name.text()));
    }
    label_keys(at, errors);
    let key = at.field("topologyKey");
    if key.text().is_empty() {
        errors.required(key, "can not be empty");
    }
    errors.problems(key, qualified_name(key.text()));
}

fn label_keys(at: FieldPath<'_>, errors: &mut ErrorList) {
    for list in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = at.field(list);
        if keys.is_empty() {
            continue;
        }
        if !at.has("labelSelector") {
            let detail = "must not be specified when labelSelector is not set";
            errors.forbidden(keys, detail);
        }
        for key in keys.items() {
            errors.problems(key, qualified_name(key.text()));
        }
    }
}

/// `validateTopologySpreadConstraints`.
pub(super) fn spread_constraints(at: FieldPath<'_>, errors: &mut ErrorList) {
    // The constraints of each key that are still to come.
    let mut left: BTreeMap<(String, String), usize> = BTreeMap::new();
    let identity = |constraint: FieldPath<'_>| {
        let text = |name: &str| constraint.text_of(name).to_owned();
        (text("topologyKey"), text("whenUnsatisfiable"))
    };
    for constraint in at.items() {
        *left.entry(identity(constraint)).or_default() += 1;
    }
    for constraint in at.items() {
        let skew = constraint.field("maxSkew");
        positive(skew, errors);
        let key = constraint.field("topologyKey");
        if key.text().is_empty() {
            errors.required(key, "can not be empty");
        }
        let when = constraint.field("whenUnsatisfiable");
        if !["DoNotSchedule", "ScheduleAnyway"].contains(&when.text()) {
            errors.unsupported(when, &["DoNotSchedule", "ScheduleAnyway"]);
        }
        let remaining = left.get_mut(&identity(constraint)).map(|left| {
            *left -= 1;
            *left
        });
        if remaining.is_some_and(|remaining| remaining > 0) {
            let shown = format!("{{{}, {}}}", key.text(), when.text());
            let pair = constraint.field("{topologyKey, whenUnsatisfiable}");
            errors.duplicate_value(pair, &json!(shown));
        }
        let domains = constraint.field("minDomains");
        if domains.is_set() {
            positive(domains, errors);
            if when.text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    when.text()
                );
                errors.invalid(domains, &detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = constraint.field(field);
            if policy.is_set() && !["Honor", "Ignore"].contains(&policy.text()) {
                errors.unsupported(policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(constraint, errors);
        let selector = constraint.field("labelSelector");
        validate_label_selector(selector, SelectorValues::Checked, errors);
    }
}

fn positive(at: FieldPath<'_>, errors: &mut ErrorList) {
    let number = at.number().unwrap_or(0);
    if number <= 0 {
        errors.invalid_value(at, &json!(number), "must be greater than zero");
    }
}
