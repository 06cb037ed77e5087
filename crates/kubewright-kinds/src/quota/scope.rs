//! The scopes of a ResourceQuota.

use serde_json::Value;

use crate::json::items;
use crate::pod_spec::quality_of_service;

/// Whether a quota counts an object. A quota with scopes counts only the Pods that are in all of
/// them (`podMatchesScopeFunc` of pkg/quota/v1/evaluator/core in k8s.io/kubernetes).
pub fn is_in_scope(quota: &Value, resource: &str, object: &Value) -> bool {
    let list = |pointer: &str| {
        let list = quota.pointer(pointer).and_then(Value::as_array);
        list.into_iter().flatten()
    };
    let mut scopes = list("/spec/scopes").filter_map(Value::as_str);
    let mut expressions = list("/spec/scopeSelector/matchExpressions");
    let matches = |scope: &str, expression: Option<&Value>| {
        resource == "pods" && is_pod_in(scope, expression, object)
    };
    scopes.all(|scope| matches(scope, None))
        && expressions.all(|expression| {
            let scope = expression["scopeName"].as_str().unwrap_or_default();
            matches(scope, Some(expression))
        })
}

fn is_pod_in(scope: &str, expression: Option<&Value>, pod: &Value) -> bool {
    let spec = &pod["spec"];
    let is_terminating = spec["activeDeadlineSeconds"].as_i64() >= Some(0);
    let is_best_effort = quality_of_service(spec) == "BestEffort";
    match scope {
        "Terminating" => is_terminating,
        "NotTerminating" => !is_terminating,
        "BestEffort" => is_best_effort,
        "NotBestEffort" => !is_best_effort,
        "PriorityClass" => has_class(expression, spec["priorityClassName"].as_str()),
        "CrossNamespacePodAffinity" => is_cross_namespace(spec),
        _ => false,
    }
}

fn has_class(expression: Option<&Value>, class: Option<&str>) -> bool {
    let class = class.filter(|class| !class.is_empty());
    let is_listed = || {
        let values = expression.map_or(&Value::Null, |expression| &expression["values"]);
        class.is_some_and(|class| items(values).any(|value| value == class))
    };
    match expression.and_then(|expression| expression["operator"].as_str()) {
        Some("In") => is_listed(),
        Some("NotIn") => !is_listed(),
        Some("DoesNotExist") => class.is_none(),
        _ => class.is_some(),
    }
}

/// Whether a Pod has affinity or anti-affinity to Pods of other namespaces.
fn is_cross_namespace(spec: &Value) -> bool {
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    let is_beyond = |term: &Value| {
        let names = term["namespaces"].as_array();
        names.is_some_and(|names| !names.is_empty()) || term.get("namespaceSelector").is_some()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|kind| {
        let affinity = &spec["affinity"][kind];
        let list = |name: &str| items(&affinity[name]);
        list(REQUIRED).any(is_beyond)
            || list(PREFERRED).any(|term| is_beyond(&term["podAffinityTerm"]))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_in_scope;

    fn is_counted(spec: Value, pod: Value) -> bool {
        is_in_scope(&json!({"spec": spec}), "pods", &json!({"spec": pod}))
    }

    fn class(operator: &str, values: &[&str]) -> Value {
        json!({"scopeSelector": {"matchExpressions": [
            {"scopeName": "PriorityClass", "operator": operator, "values": values}]}})
    }

    #[test]
    fn scope_selects_the_pods_that_are_counted() {
        let small = json!({"containers": [{"resources": {"requests": {"cpu": "1"}}}]});
        let plain = json!({"containers": [{}]});
        let timed = json!({"containers": [{}], "activeDeadlineSeconds": 5});
        let urgent = json!({"containers": [{}], "priorityClassName": "urgent"});
        let near = json!({"containers": [{}], "affinity": {"podAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaces": ["x"]}]}}});
        for (wanted, spec, pod) in [
            (true, json!({}), &plain),
            (true, json!({"scopes": ["BestEffort"]}), &plain),
            (false, json!({"scopes": ["BestEffort"]}), &small),
            (true, json!({"scopes": ["NotBestEffort"]}), &small),
            (true, json!({"scopes": ["Terminating"]}), &timed),
            (false, json!({"scopes": ["Terminating"]}), &plain),
            (true, json!({"scopes": ["NotTerminating"]}), &plain),
            (
                false,
                json!({"scopes": ["NotTerminating", "NotBestEffort"]}),
                &plain,
            ),
            (true, json!({"scopes": ["PriorityClass"]}), &urgent),
            (false, json!({"scopes": ["PriorityClass"]}), &plain),
            (true, class("In", &["urgent"]), &urgent),
            (false, class("In", &["late"]), &urgent),
            (true, class("NotIn", &["late"]), &urgent),
            (true, class("Exists", &[]), &urgent),
            (true, class("DoesNotExist", &[]), &plain),
            (
                true,
                json!({"scopes": ["CrossNamespacePodAffinity"]}),
                &near,
            ),
            (
                false,
                json!({"scopes": ["CrossNamespacePodAffinity"]}),
                &plain,
            ),
        ] {
            assert_eq!(
                is_counted(spec.clone(), pod.clone()),
                wanted,
                "{spec} {pod}"
            );
        }
        let quota = json!({"spec": {"scopes": ["NotTerminating"]}});
        assert!(!is_in_scope(&quota, "configmaps", &json!({})));
    }
}
