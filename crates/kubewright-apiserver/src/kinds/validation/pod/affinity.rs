use std::collections::BTreeMap;

use serde_json::json;

use super::super::formats::{label, label_value, qualified_name, subdomain};
use super::super::labels::{SelectorValues, label_selector};
use super::super::{At, Findings};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `validateAffinity`.
pub(super) fn affinity(at: At<'_>, findings: &mut Findings) {
    node_affinity(at.field("nodeAffinity"), findings);
    for kind in ["podAffinity", "podAntiAffinity"] {
        let own = at.field(kind);
        for term in own.field(REQUIRED).items() {
            pod_term(term, findings);
        }
        for weighted in own.field(PREFERRED).items() {
            weight(weighted.field("weight"), findings);
            pod_term(weighted.field("podAffinityTerm"), findings);
        }
    }
}

fn node_affinity(at: At<'_>, findings: &mut Findings) {
    let required = at.field(REQUIRED);
    if required.is_set() {
        let terms = required.field("nodeSelectorTerms");
        if terms.is_empty() {
            findings.required(terms, "must have at least one node selector term");
        }
        for term in terms.items() {
            node_term(term, SelectorValues::Checked, findings);
        }
    }
    for preferred in at.field(PREFERRED).items() {
        weight(preferred.field("weight"), findings);
        node_term(preferred.field("preference"), SelectorValues::Any, findings);
    }
}

fn weight(at: At<'_>, findings: &mut Findings) {
    let weight = at.number().unwrap_or(0);
    if !(1..=100).contains(&weight) {
        findings.invalid_value(at, &json!(weight), "must be in the range 1-100");
    }
}

/// `ValidateNodeSelectorTerm`.
fn node_term(at: At<'_>, values: SelectorValues, findings: &mut Findings) {
    for requirement in at.field("matchExpressions").items() {
        let given = requirement.field("values");
        match requirement.text_of("operator") {
            "In" | "NotIn" if given.is_empty() => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                findings.required(given, detail);
            }
            "Exists" | "DoesNotExist" if !given.is_empty() => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                findings.forbidden(given, detail);
            }
            "Gt" | "Lt" if given.len() != 1 => {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                findings.required(given, detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => not_an_operator(requirement.field("operator"), findings),
        }
        let key = requirement.field("key");
        findings.problems(key, qualified_name(key.text()));
        if values == SelectorValues::Checked {
            for value in given.items() {
                findings.problems(value, label_value(value.text()));
            }
        }
    }
    for requirement in at.field("matchFields").items() {
        field_requirement(requirement, findings);
    }
}

fn field_requirement(at: At<'_>, findings: &mut Findings) {
    let given = at.field("values");
    match at.text_of("operator") {
        "In" | "NotIn" if given.len() != 1 => {
            let detail =
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
            findings.required(given, detail);
        }
        "In" | "NotIn" => {}
        _ => not_an_operator(at.field("operator"), findings),
    }
    if at.text_of("key") != "metadata.name" {
        return findings.invalid_text(at.field("key"), "not a valid field selector key");
    }
    for value in given.items() {
        findings.problems(value, subdomain(value.text()));
    }
}

fn not_an_operator(at: At<'_>, findings: &mut Findings) {
    findings.invalid_text(at, "not a valid selector operator");
}

/// `validatePodAffinityTerm`.
fn pod_term(at: At<'_>, findings: &mut Findings) {
    for selector in ["labelSelector", "namespaceSelector"] {
        label_selector(at.field(selector), SelectorValues::Checked, findings);
    }
    for name in at.field("namespaces").items() {
        findings.problems(at.field("namespace").with(name.value()), label(name.text()));
    }
    label_keys(at, findings);
    let key = at.field("topologyKey");
    if key.text().is_empty() {
        findings.required(key, "can not be empty");
    }
    findings.problems(key, qualified_name(key.text()));
}

fn label_keys(at: At<'_>, findings: &mut Findings) {
    for list in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = at.field(list);
        if keys.is_empty() {
            continue;
        }
        if !at.has("labelSelector") {
            let detail = "must not be specified when labelSelector is not set";
            findings.forbidden(keys, detail);
        }
        for key in keys.items() {
            findings.problems(key, qualified_name(key.text()));
        }
    }
}

/// `validateTopologySpreadConstraints`.
pub(super) fn spread_constraints(at: At<'_>, findings: &mut Findings) {
    // How many are still to come of each key.
    let mut left: BTreeMap<(String, String), usize> = BTreeMap::new();
    let identity = |constraint: At<'_>| {
        let text = |name: &str| constraint.text_of(name).to_owned();
        (text("topologyKey"), text("whenUnsatisfiable"))
    };
    for constraint in at.items() {
        *left.entry(identity(constraint)).or_default() += 1;
    }
    for constraint in at.items() {
        let skew = constraint.field("maxSkew");
        positive(skew, findings);
        let key = constraint.field("topologyKey");
        if key.text().is_empty() {
            findings.required(key, "can not be empty");
        }
        let when = constraint.field("whenUnsatisfiable");
        if !["DoNotSchedule", "ScheduleAnyway"].contains(&when.text()) {
            findings.unsupported(when, &["DoNotSchedule", "ScheduleAnyway"]);
        }
        let still = left.get_mut(&identity(constraint)).map(|left| {
            *left -= 1;
            *left
        });
        if still.is_some_and(|still| still > 0) {
            let shown = format!("{{{}, {}}}", key.text(), when.text());
            let pair = constraint.field("{topologyKey, whenUnsatisfiable}");
            findings.duplicate_value(pair, &json!(shown));
        }
        let domains = constraint.field("minDomains");
        if domains.is_set() {
            positive(domains, findings);
            if when.text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    when.text()
                );
                findings.invalid(domains, &detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policy = constraint.field(field);
            if policy.is_set() && !["Honor", "Ignore"].contains(&policy.text()) {
                findings.unsupported(policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(constraint, findings);
        let selector = constraint.field("labelSelector");
        label_selector(selector, SelectorValues::Checked, findings);
    }
}

fn positive(at: At<'_>, findings: &mut Findings) {
    let number = at.number().unwrap_or(0);
    if number <= 0 {
        findings.invalid_value(at, &json!(number), "must be greater than zero");
    }
}
