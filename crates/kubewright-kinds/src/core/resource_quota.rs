//! ResourceQuota: a limit on what the objects of a namespace use together.

use std::collections::BTreeSet;

use kubewright_core::Quantity;
use serde_json::{Map, Value, json};

use crate::columns::{AGE, Cell, Column, NAME, Row};
use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::groups;
use crate::json::{items, object_mut, text};
use crate::kind::{BuiltinKind, DeleteResponse, StatusStrategy, Validation, add_one};
use crate::resource_list::{is_hugepages, round_up, validate_quantity, validate_resource_name};
use crate::warning_list::Warnings;

/// A limit on what the objects of a namespace use together.
pub static RESOURCE_QUOTA: BuiltinKind = BuiltinKind {
    delete_response: DeleteResponse::Object,
    declared_columns: COLUMNS,
    defaults: apply_defaults,
    status: StatusStrategy {
        validate: validate_status,
        ..StatusStrategy::DEFAULT
    },
    validation: Validation::Rules(validate),
    warnings: warn,
    quota_usage: |_, usage| add_one(usage, "resourcequotas"),
    ..BuiltinKind::new(groups::CORE, "ResourceQuota", "resourcequotas")
};

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

/// Scopes that take no values.
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

const COLUMNS: &[Column] = &[
    NAME,
    Column::text("Request", Cell::Computed(|row| quota(row, Side::Requests))),
    Column::text("Limit", Cell::Computed(|row| quota(row, Side::Limits))),
    AGE,
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Requests,
    Limits,
}

fn quota(row: &Row<'_>, side: Side) -> Value {
    let hard = row.map("/status/hard").into_iter().flatten();
    let parts = hard.filter_map(|(name, hard)| {
        let of_side = name.starts_with("limits.") == (side == Side::Limits);
        let used = row
            .map("/status/used")
            .and_then(|used| used.get(name)?.as_str());
        let used = used.unwrap_or("0");
        of_side.then(|| format!("{name}: {used}/{}", text(hard)))
    });
    json!(parts.collect::<Vec<_>>().join(", "))
}

/// `SetDefaults_ResourceList`.
fn apply_defaults(object: &mut Map<String, Value>) {
    if let Some(spec) = object_mut(object, "spec") {
        round_up(spec, &["hard"]);
    }
    if let Some(status) = object_mut(object, "status") {
        round_up(status, &["hard", "used"]);
    }
}

/// `ValidateResourceQuota`, `ValidateResourceQuotaUpdate`.
fn validate(object: &Value, old: Option<&Value>, errors: &mut ErrorList) {
    let spec = FieldPath::new(object, "spec");
    validate_resources(spec.field("hard"), errors);
    validate_scopes(spec, errors);
    if spec.has("scopeSelector") {
        validate_selector(spec, errors);
    }
    let Some(old) = old else {
        return;
    };
    let scopes = spec.field("scopes");
    let set = |list: &Value| -> BTreeSet<String> {
        items(list).map(|scope| text(scope).to_owned()).collect()
    };
    if set(scopes.value()) != set(&old["spec"]["scopes"]) {
        errors.invalid(scopes, "field is immutable");
    }
}

/// `ValidateResourceQuotaStatusUpdate`.
fn validate_status(object: &Value, _: &Value, errors: &mut ErrorList) {
    let status = FieldPath::new(object, "status");
    validate_resources(status.field("hard"), errors);
    validate_resources(status.field("used"), errors);
}

fn validate_resources(at: FieldPath<'_>, errors: &mut ErrorList) {
    for (name, value) in at.entries() {
        validate_resource_name(value, name, errors);
        if !name.contains('/') && !is_quota_resource(name) {
            let detail = "must be a standard resource for quota";
            errors.invalid_value(value, &json!(name), detail);
        }
        validate_quantity(value, name, errors);
    }
}

/// `IsStandardQuotaResourceName`.
fn is_quota_resource(name: &str) -> bool {
    RESOURCES.contains(&name) || is_hugepages(name) || name.starts_with("requests.hugepages-")
}

fn is_scope(scope: &str) -> bool {
    PLAIN_SCOPES.contains(&scope) || matches!(scope, "PriorityClass" | "VolumeAttributesClass")
}

/// `IsResourceQuotaScopeValidForResource`.
fn applies_to(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => {
            matches!(resource, "persistentvolumeclaims" | "requests.storage")
        }
        scope if is_scope(scope) => OF_PODS.contains(&resource),
        _ => true,
    }
}

/// The number of resources that a scope does not apply to.
fn mismatches(spec: FieldPath<'_>, scope: &str) -> usize {
    let hard = spec.value()["hard"].as_object();
    let names = hard.into_iter().flat_map(|hard| hard.keys());
    names
        .filter(|name| is_quota_resource(name) && !applies_to(scope, name))
        .count()
}

/// The number of pairs of scopes that exclude each other.
fn conflicts(scopes: &[&str]) -> usize {
    OPPOSITES
        .iter()
        .filter(|pair| pair.iter().all(|scope| scopes.contains(scope)))
        .count()
}

/// `validateResourceQuotaScopes`.
fn validate_scopes(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let at = spec.field("scopes");
    let all: Vec<&str> = at.items().map(|scope| scope.text()).collect();
    for scope in &all {
        if !is_scope(scope) {
            errors.invalid(at, "unsupported scope");
        }
        for _ in 0..mismatches(spec, scope) {
            errors.invalid(at, "unsupported scope applied to resource");
        }
    }
    for _ in 0..conflicts(&all) {
        errors.invalid(at, "conflicting scopes");
    }
}

/// `validateScopedResourceSelectorRequirement`.
fn validate_selector(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let whole = spec.field("scopeSelector");
    let at = whole.field("matchExpressions");
    let mut all = Vec::new();
    for requirement in at.items() {
        let scope = requirement.text_of("scopeName");
        let operator = requirement.text_of("operator");
        all.push(scope);
        // Kubernetes omits the index.
        let invalid = |errors: &mut ErrorList, field: &str, value: &Value, detail: &str| {
            errors.invalid_value(at.field(field), value, detail);
        };
        if !is_scope(scope) {
            invalid(errors, "scopeName", &json!(scope), "unsupported scope");
        }
        for _ in 0..mismatches(spec, scope) {
            let detail = "unsupported scope applied to resource";
            errors.invalid_as(at, &go_selector(at), detail);
        }
        if PLAIN_SCOPES.contains(&scope) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                          ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                          ResourceQuotaScopeNotBestEffort or \
                          ResourceQuotaScopeCrossNamespacePodAffinity";
            invalid(errors, "operator", &json!(operator), detail);
        }
        let values = requirement.field("values");
        match operator {
            "In" | "NotIn" if values.is_empty() => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for \
                              scope selector";
                errors.required(at.field("values"), detail);
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for \
                              scope selector";
                invalid(errors, "values", values.value(), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let detail = "not a valid selector operator";
                invalid(errors, "operator", &json!(operator), detail);
            }
        }
    }
    for _ in 0..conflicts(&all) {
        let scopes = spec.field("scopes");
        errors.invalid_value(at, scopes.value(), "conflicting scopes");
    }
}

/// The selector as Go prints the internal type, which has no JSON names.
fn go_selector(expressions: FieldPath<'_>) -> String {
    let requirements = expressions.items().map(|requirement| {
        format!(
            "{{\"ScopeName\":{},\"Operator\":{},\"Values\":{}}}",
            json!(requirement.text_of("scopeName")),
            json!(requirement.text_of("operator")),
            requirement.value()["values"],
        )
    });
    let all: Vec<String> = requirements.collect();
    format!("{{\"MatchExpressions\":[{}]}}", all.join(","))
}

/// Warns about a new quota with more requests than limits.
fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_some() {
        return;
    }
    let spec = FieldPath::new(object, "spec");
    let hard = spec.field("hard");
    for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
        let (qualified, limits) = (format!("requests.{name}"), format!("limits.{name}"));
        let requests = match name {
            "cpu" | "memory" if !hard.has(&qualified) => name,
            _ => qualified.as_str(),
        };
        let request = Quantity::parse(hard.text_of(requests));
        let limit = Quantity::parse(hard.text_of(&limits));
        if let (Some(request), Some(limit)) = (request, limit)
            && request.cmp_amount(&limit).is_gt()
        {
            warnings.add(&format!(
                "ResourceQuota {requests} ({request}) should be less than {limits} ({limit})"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::RESOURCE_QUOTA;

    fn errors(spec: &Value, old: Option<&Value>) -> Vec<String> {
        let old = old.map(|spec| json!({"spec": spec}));
        RESOURCE_QUOTA.errors(&json!({"spec": spec}), old.as_ref())
    }

    #[test]
    fn limits_are_for_known_resources_and_not_negative() {
        let hard = json!({"count/pods": "1", "cpu": "-1", "pods": "1500m", "storage": "1"});
        assert_eq!(
            errors(&json!({"hard": hard}), None),
            [
                "spec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
                "spec.hard[pods]: Invalid value: \"1500m\": must be an integer",
                "spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for \
                 quota",
            ]
        );
    }

    #[test]
    fn scopes_fit_the_resources_and_are_immutable() {
        let spec = json!({"hard": {"pods": "1"}, "scopes": ["BestEffort"]});
        assert!(errors(&spec, Some(&spec)).is_empty());
        assert_eq!(
            errors(&spec, Some(&json!({"hard": {"pods": "1"}}))),
            ["spec.scopes: Invalid value: [\"BestEffort\"]: field is immutable"]
        );
        assert_eq!(
            errors(
                &json!({"hard": {"services": "1"}, "scopes": ["BestEffort"]}),
                None
            ),
            ["spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"]
        );
    }

    #[test]
    fn new_quota_with_more_requests_than_limits_is_warned_about() {
        let hard = json!({
            "cpu": "2", "limits.cpu": "1500m",
            "memory": "4Gi", "requests.memory": "1Gi", "limits.memory": "2Gi",
            "requests.ephemeral-storage": "2Gi", "limits.ephemeral-storage": "1024Mi",
        });
        let quota = json!({"spec": {"hard": hard}});
        assert_eq!(
            RESOURCE_QUOTA.warnings(&quota, None),
            [
                "ResourceQuota cpu (2) should be less than limits.cpu (1500m)",
                "ResourceQuota requests.ephemeral-storage (2Gi) should be less than \
                 limits.ephemeral-storage (1Gi)",
            ]
        );
        assert!(RESOURCE_QUOTA.warnings(&quota, Some(&quota)).is_empty());
    }
}
