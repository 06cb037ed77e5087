//! Checks of webhook configurations: webhooks that can prevent a cluster from starting.

use serde_json::Value;

use super::finding::{Finding, Findings, Rule};

/// The label that the API server sets on every namespace.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Checks a webhook configuration.
pub(super) fn check_configuration(configuration: &Value) -> Vec<Finding> {
    let mut findings = Findings::of(configuration);
    for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
        let name = webhook["name"].as_str().unwrap_or_default().to_owned();
        let mut fault = |message: &str| findings.add(Rule::Webhook, name.clone(), message);
        if matches!(
            webhook["sideEffects"].as_str(),
            Some("Some" | "Unknown") | None
        ) {
            fault("it declares side effects: a dry run of an object that it is called for fails");
        }
        if has_wildcard(webhook) {
            fault("it is called for every kind, also for its own Pods and leases: list the kinds");
            continue;
        }
        if webhook["failurePolicy"] == "Ignore" {
            continue;
        }
        if is_called_for_pods(webhook) && !exempts_system_namespaces(webhook) {
            fault(
                "while it is down no Pod starts, not even its own and those of kube-system: exempt \
these namespaces with a namespaceSelector",
            );
        }
        if webhook["timeoutSeconds"].as_u64().unwrap_or(10) > 15 {
            fault(
                "while it is down each write waits for more than 15 s, longer than the timeout of \
most clients: lower timeoutSeconds",
            );
        }
    }
    findings.into_vec()
}

fn rules(webhook: &Value) -> impl Iterator<Item = &Value> {
    webhook["rules"].as_array().into_iter().flatten()
}

fn lists(rule: &Value, field: &str, name: &str) -> bool {
    let mut names = rule[field].as_array().into_iter().flatten();
    names.any(|listed| listed == name)
}

fn has_wildcard(webhook: &Value) -> bool {
    rules(webhook).any(|rule| {
        lists(rule, "apiGroups", "*")
            && (lists(rule, "resources", "*") || lists(rule, "resources", "*/*"))
    })
}

/// Whether the webhook is called when Pods, or the objects that create Pods, are created.
fn is_called_for_pods(webhook: &Value) -> bool {
    let matches_pods = |rule: &Value| {
        let core = lists(rule, "apiGroups", "") || lists(rule, "apiGroups", "*");
        let apps = lists(rule, "apiGroups", "apps") || lists(rule, "apiGroups", "*");
        let of = |resource| lists(rule, "resources", resource);
        let pods = core && (of("pods") || of("*"));
        let sets = apps && (of("deployments") || of("replicasets") || of("daemonsets") || of("*"));
        let creates = lists(rule, "operations", "CREATE") || lists(rule, "operations", "*");
        creates && (pods || sets)
    };
    rules(webhook).any(matches_pods)
}

fn exempts_system_namespaces(webhook: &Value) -> bool {
    let selector = &webhook["namespaceSelector"];
    // A selector that requires a label does not match system namespaces, which do not have it.
    let requires_label = selector["matchLabels"]
        .as_object()
        .is_some_and(|labels| !labels.is_empty());
    let mut expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    let excludes = expressions.any(|expression| {
        let by_name = expression["key"] == NAMESPACE_NAME
            && expression["operator"] == "NotIn"
            && lists(expression, "values", "kube-system");
        by_name
            || matches!(
                expression["operator"].as_str(),
                Some("In" | "Exists" | "DoesNotExist")
            )
    });
    let objects = &webhook["objectSelector"]["matchLabels"];
    requires_label || excludes || objects.as_object().is_some_and(|labels| !labels.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check_configuration;

    fn faults(changes: Value) -> usize {
        let mut webhook = json!({
            "name": "pods.ex.io", "sideEffects": "None", "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
            "namespaceSelector": {"matchExpressions": [{
                "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "own"],
            }]},
        });
        for (field, value) in changes.as_object().unwrap() {
            webhook[field] = value.clone();
        }
        let configuration = json!({"kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "x"}, "webhooks": [webhook]});
        check_configuration(&configuration).len()
    }

    #[test]
    fn webhook_with_timeout_and_namespace_selector_has_no_fault() {
        assert_eq!(faults(json!({})), 0);
        let own_kind = json!({"namespaceSelector": {}, "rules": [{"apiGroups": ["ex.io"],
            "operations": ["CREATE"], "resources": ["sets"]}]});
        assert_eq!(faults(own_kind), 0);
    }

    #[test]
    fn each_missing_safeguard_is_a_fault() {
        for changes in [
            json!({"namespaceSelector": {}}),
            json!({"sideEffects": "Unknown"}),
            json!({"timeoutSeconds": 30}),
            json!({"rules": [{"apiGroups": ["*"], "operations": ["*"], "resources": ["*/*"]}]}),
        ] {
            assert_eq!(faults(changes.clone()), 1, "{changes}");
        }
        let not_fatal = json!({"namespaceSelector": {}, "failurePolicy": "Ignore"});
        assert_eq!(faults(not_fatal), 0);
    }
}
