use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::node::amount;
use super::pod::{is_huge, resource_name};
use super::{At, Findings};

const RESOURCES: [&str; 19] = [
    "configmaps",
    "cpu",
    "ephemeral-storage",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];
const OF_PODS: [&str; 7] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "pods",
    "requests.cpu",
    "requests.memory",
];
/// Those that Pods are in or not, without values.
const PLAIN_SCOPES: [&str; 5] = [
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "Terminating",
];
const OPPOSITES: [[&str; 2]; 2] = [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
];

/// `ValidateResourceQuota`, `ValidateResourceQuotaUpdate`.
pub(super) fn resource_quota(object: &Value, old: Option<&Value>, findings: &mut Findings) {
    let spec = At::top(object, "spec");
    hard(spec.field("hard"), findings);
    scopes(spec, findings);
    if spec.has("scopeSelector") {
        selector(spec, findings);
    }
    let Some(old) = old else {
        return;
    };
    let at = spec.field("scopes");
    let before = At::top(old, "spec");
    let before = before.field("scopes");
    let set = |at: At<'_>| -> BTreeSet<String> {
        at.items().map(|scope| scope.text().to_owned()).collect()
    };
    if set(at) != set(before) {
        findings.invalid(at, "field is immutable");
    }
}

/// `ValidateResourceQuotaStatusUpdate`.
pub(super) fn resource_quota_status(object: &Value, _: &Value, findings: &mut Findings) {
    let status = At::top(object, "status");
    hard(status.field("hard"), findings);
    hard(status.field("used"), findings);
}

fn hard(at: At<'_>, findings: &mut Findings) {
    for (name, value) in at.entries() {
        resource_name(value, name, findings);
        if !name.contains('/') && !is_counted(name) {
            let detail = "must be a standard resource for quota";
            findings.invalid_value(value, &json!(name), detail);
        }
        amount(value, name, findings);
    }
}

/// `IsStandardQuotaResourceName`.
fn is_counted(name: &str) -> bool {
    RESOURCES.contains(&name) || is_huge(name) || name.starts_with("requests.hugepages-")
}

fn is_scope(scope: &str) -> bool {
    PLAIN_SCOPES.contains(&scope) || matches!(scope, "PriorityClass" | "VolumeAttributesClass")
}

/// `IsResourceQuotaScopeValidForResource`.
fn fits(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        scope if is_scope(scope) => OF_PODS.contains(&resource),
        _ => true,
    }
}

/// How many of the counted resources a scope says nothing about.
fn unfit(spec: At<'_>, scope: &str) -> usize {
    let hard = spec.value()["hard"].as_object();
    let names = hard.into_iter().flat_map(|hard| hard.keys());
    let unfit = names.filter(|name| is_counted(name) && !fits(scope, name));
    unfit.count()
}

fn are_opposed(scopes: &[&str]) -> usize {
    let opposed = OPPOSITES
        .iter()
        .filter(|pair| pair.iter().all(|scope| scopes.contains(scope)));
    opposed.count()
}

/// `validateResourceQuotaScopes`.
fn scopes(spec: At<'_>, findings: &mut Findings) {
    let at = spec.field("scopes");
    let all: Vec<&str> = at.items().map(|scope| scope.text()).collect();
    for scope in &all {
        if !is_scope(scope) {
            findings.invalid(at, "unsupported scope");
        }
        for _ in 0..unfit(spec, scope) {
            findings.invalid(at, "unsupported scope applied to resource");
        }
    }
    for _ in 0..are_opposed(&all) {
        findings.invalid(at, "conflicting scopes");
    }
}

/// `validateScopedResourceSelectorRequirement`.
fn selector(spec: At<'_>, findings: &mut Findings) {
    let whole = spec.field("scopeSelector");
    let at = whole.field("matchExpressions");
    let mut all = Vec::new();
    for one in at.items() {
        let (scope, operator) = (one.text_of("scopeName"), one.text_of("operator"));
        all.push(scope);
        // Kubernetes leaves the index out.
        let fault = |findings: &mut Findings, field: &str, value: &Value, detail: &str| {
            findings.invalid_value(at.field(field), value, detail);
        };
        if !is_scope(scope) {
            fault(findings, "scopeName", &json!(scope), "unsupported scope");
        }
        for _ in 0..unfit(spec, scope) {
            let detail = "unsupported scope applied to resource";
            findings.invalid_as(at, &as_go_writes(at), detail);
        }
        if PLAIN_SCOPES.contains(&scope) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or \
                          ResourceQuotaScopeCrossNamespacePodAffinity";
            fault(findings, "operator", &json!(operator), detail);
        }
        let values = one.field("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for \
                              scope selector";
                findings.required(at.field("values"), detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for \
                              scope selector";
                fault(findings, "values", values.value(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let detail = "not a valid selector operator";
                fault(findings, "operator", &json!(operator), detail);
            }
        }
    }
    for _ in 0..are_opposed(&all) {
        let scopes = spec.field("scopes");
        findings.invalid_value(at, scopes.value(), "conflicting scopes");
    }
}

/// The selector with the names of its fields in Go, which has no others for it.
fn as_go_writes(expressions: At<'_>) -> String {
    let one = |one: At<'_>| {
        format!(
            "{{\"ScopeName\":{},\"Operator\":{},\"Values\":{}}}",
            json!(one.text_of("scopeName")),
            json!(one.text_of("operator")),
            one.value()["values"],
        )
    };
    let all: Vec<_> = expressions.items().map(one).collect();
    format!("{{\"MatchExpressions\":[{}]}}", all.join(","))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Findings;
    use super::resource_quota;

    fn faults(spec: Value, old: Option<Value>) -> Vec<String> {
        let mut findings = Findings::default();
        let old = old.map(|spec| json!({"spec": spec}));
        resource_quota(&json!({"spec": spec}), old.as_ref(), &mut findings);
        let causes = findings.into_causes();
        causes.iter().map(|cause| cause.with_field()).collect()
    }

    #[test]
    fn what_a_quota_can_count_is_known_and_positive() {
        assert_eq!(
            faults(
                json!({"hard": {"count/pods": "1", "cpu": "-1", "pods": "1500m", "storage": "1"}}),
                None
            ),
            [
                "spec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
                "spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
                "spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for \
                 quota",
            ]
        );
    }

    #[test]
    fn scopes_fit_what_is_counted_and_do_not_change() {
        let spec = json!({"hard": {"pods": "1"}, "scopes": ["BestEffort"]});
        assert!(faults(spec.clone(), Some(spec.clone())).is_empty());
        assert_eq!(
            faults(spec, Some(json!({"hard": {"pods": "1"}}))),
            ["spec.scopes: Invalid value: [\"BestEffort\"]: field is immutable"]
        );
        assert_eq!(
            faults(
                json!({"hard": {"services": "1"}, "scopes": ["BestEffort"]}),
                None
            ),
            ["spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"]
        );
    }
}
