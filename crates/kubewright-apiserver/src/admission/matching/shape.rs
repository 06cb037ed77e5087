use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

/// What is wrong with a rule that says which requests are meant (`validateRuleWithOperations`).
pub(crate) fn check_rule(rule: &Value, path: &str, causes: &mut Vec<Cause>) {
    const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    let items = |field: &str| rule[field].as_array().into_iter().flatten();
    check_wildcard(rule, path, ("operations", "operations"), causes);
    for (place, operation) in items("operations").enumerate() {
        if !OPERATIONS.iter().any(|one| operation == one) {
            let field = format!("{path}.operations[{place}]");
            causes.push(Cause::not_supported(&field, operation, &OPERATIONS));
        }
    }
    check_wildcard(rule, path, ("apiGroups", "API groups"), causes);
    check_wildcard(rule, path, ("apiVersions", "API versions"), causes);
    for (place, version) in items("apiVersions").enumerate() {
        if version == "" {
            let field = format!("{path}.apiVersions[{place}]");
            causes.push(Cause::required(&field, ""));
        }
    }
    check_resources(&rule["resources"], &format!("{path}.resources"), causes);
    one_of(rule, path, "scope", &["*", "Cluster", "Namespaced"], causes);
}

/// `*` stands alone.
fn check_wildcard(
    rule: &Value,
    path: &str,
    (field, others): (&str, &str),
    causes: &mut Vec<Cause>,
) {
    let items = rule[field].as_array().map_or(&[][..], Vec::as_slice);
    let path = format!("{path}.{field}");
    if items.is_empty() {
        causes.push(Cause::required(&path, ""));
    } else if items.len() > 1 && items.contains(&json!("*")) {
        let detail = format!("if '*' is present, must not specify other {others}");
        causes.push(Cause::invalid(&path, &rule[field], &detail));
    }
}

fn check_resources(resources: &Value, path: &str, causes: &mut Vec<Cause>) {
    let items: Vec<&str> = resources
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| item.as_str().unwrap_or_default())
        .collect();
    if items.is_empty() {
        causes.push(Cause::required(path, ""));
    }
    let (mut whole, mut parts) = (BTreeSet::new(), BTreeSet::new());
    for (place, item) in items.iter().enumerate() {
        let field = format!("{path}[{place}]");
        if item.is_empty() {
            causes.push(Cause::required(&field, ""));
        }
        let Some((resource, part)) = item.split_once('/') else {
            continue;
        };
        if whole.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {item}");
            causes.push(Cause::invalid(&field, &json!(item), &detail));
        }
        if parts.contains(part) {
            let detail = format!("if '*/{part}' is present, must not specify {item}");
            causes.push(Cause::invalid(&field, &json!(item), &detail));
        }
        if part == "*" {
            whole.insert(resource);
        }
        if resource == "*" {
            parts.insert(part);
        }
    }
    if items.len() > 1 && items.contains(&"*/*") {
        let detail = "if '*/*' is present, must not specify other resources";
        causes.push(Cause::invalid(path, resources, detail));
    }
    // As in Kubernetes, the last one without a part decides.
    let last = items.iter().rev().find(|item| !item.contains('/'));
    if items.contains(&"*") && last.is_some_and(|item| *item != "*") {
        let detail = "if '*' is present, must not specify other resources without subresources";
        causes.push(Cause::invalid(path, resources, detail));
    }
}

/// What is wrong with a label selector; its labels are not looked at.
pub(crate) fn check_selector(selector: &Value, path: &str, causes: &mut Vec<Cause>) {
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    for (place, expression) in expressions.enumerate() {
        let at = |field: &str| format!("{path}.matchExpressions[{place}].{field}");
        let has_values = expression["values"]
            .as_array()
            .is_some_and(|values| !values.is_empty());
        match expression["operator"].as_str().unwrap_or_default() {
            "In" | "NotIn" if !has_values => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                causes.push(Cause::required(&at("values"), detail));
            }
            "Exists" | "DoesNotExist" if has_values => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                causes.push(Cause::forbidden(&at("values"), detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let detail = "not a valid selector operator";
                causes.push(Cause::invalid(&at("operator"), &json!(other), detail));
            }
        }
    }
}

/// A field that is one of a few words, where it is there.
pub(crate) fn one_of(
    value: &Value,
    path: &str,
    field: &str,
    allowed: &[&str],
    causes: &mut Vec<Cause>,
) {
    let value = &value[field];
    if !value.is_null() && !allowed.iter().any(|one| value == one) {
        let field = format!("{path}.{field}");
        causes.push(Cause::not_supported(&field, value, allowed));
    }
}
