//! `RuleWithOperations`: which requests a webhook or policy is for.

use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use crate::json::{items, text};

/// Adds the errors of a rule (`validateRuleWithOperations`).
pub fn check_rule(rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let at = |field: &str| format!("{path}.{field}");
    check_wildcard(&rule["operations"], &at("operations"), "operations", causes);
    for (index, operation) in items(&rule["operations"]).enumerate() {
        if !OPERATIONS.iter().any(|known| operation == known) {
            let field = format!("{path}.operations[{index}]");
            causes.push(Cause::not_supported(&field, operation, &OPERATIONS));
        }
    }
    check_wildcard(&rule["apiGroups"], &at("apiGroups"), "API groups", causes);
    check_wildcard(
        &rule["apiVersions"],
        &at("apiVersions"),
        "API versions",
        causes,
    );
    for (index, version) in items(&rule["apiVersions"]).enumerate() {
        if version == "" {
            let field = format!("{path}.apiVersions[{index}]");
            causes.push(Cause::required(&field, ""));
        }
    }
    check_resources(&rule["resources"], &format!("{path}.resources"), causes);
    one_of(rule, path, "scope", &["*", "Cluster", "Namespaced"], causes);
}

/// Requires a list that is not empty, and in which `*` is the only item.
fn check_wildcard(list: &Value, path: &str, what: &str, causes: &mut Vec<Cause>) {
    let count = items(list).count();
    if count == 0 {
        causes.push(Cause::required(path, ""));
    } else if count > 1 && items(list).any(|item| item == "*") {
        let detail = format!("if '*' is present, must not specify other {what}");
        causes.push(Cause::invalid(path, list, &detail));
    }
}

fn check_resources(resources: &Value, path: &str, causes: &mut Vec<Cause>) {
    let names: Vec<&str> = items(resources).map(text).collect();
    if names.is_empty() {
        causes.push(Cause::required(path, ""));
    }
    let mut with_all_subresources = BTreeSet::new();
    let mut of_all_resources = BTreeSet::new();
    for (index, name) in names.iter().enumerate() {
        let field = format!("{path}[{index}]");
        if name.is_empty() {
            causes.push(Cause::required(&field, ""));
        }
        let Some((resource, subresource)) = name.split_once('/') else {
            continue;
        };
        if with_all_subresources.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {name}");
            causes.push(Cause::invalid(&field, &json!(name), &detail));
        }
        if of_all_resources.contains(subresource) {
            let detail = format!("if '*/{subresource}' is present, must not specify {name}");
            causes.push(Cause::invalid(&field, &json!(name), &detail));
        }
        if subresource == "*" {
            with_all_subresources.insert(resource);
        }
        if resource == "*" {
            of_all_resources.insert(subresource);
        }
    }
    if names.len() > 1 && names.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(path, resources, detail));
    }
    // As in Kubernetes, the last resource without a subresource decides.
    let last = names.iter().rev().find(|name| !name.contains('/'));
    if names.contains(&"*") && last.is_some_and(|name| *name != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(path, resources, detail));
    }
}

/// Requires a field to be absent or one of the supported values.
pub fn one_of(
    object: &Value,
    path: &str,
    field: &str,
    supported: &[&str],
    causes: &mut Vec<Cause>,
) {
    let value = &object[field];
    if !value.is_null() && !supported.iter().any(|known| value == known) {
        let path = format!("{path}.{field}");
        causes.push(Cause::not_supported(&path, value, supported));
    }
}
