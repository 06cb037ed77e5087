use serde_json::Value;

use super::finding::{Finding, Findings, Rule};

/// What every namespace is labelled with by the API server.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Looks at a webhook configuration.
pub(super) fn check_configuration(configuration: &Value) -> Vec<Finding> {
    let mut findings = Findings::of(configuration);
    for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
        let name = webhook["name"].as_str().unwrap_or_default().to_owned();
        let mut fault = |message: &str| findings.add(Rule::Guard, name.clone(), message);
        if matches!(
            webhook["sideEffects"].as_str(),
            Some("Some" | "Unknown") | None
        ) {
            fault(
                "it says that it changes something elsewhere: a dry run of any such object fails",
            );
        }
        if has_wildcard(webhook) {
            fault("it is asked about every kind, its own Pods and leases too: name the kinds");
            continue;
        }
        if webhook["failurePolicy"] == "Ignore" {
            continue;
        }
        if is_asked_about_pods(webhook) && !spares_system_namespaces(webhook) {
            fault(
                "while it does not answer no Pod starts, its own and those of kube-system neither: \
                 exempt these namespaces with a namespaceSelector",
            );
        }
        let slow = webhook["timeoutSeconds"].as_u64().unwrap_or(10) > 15;
        if slow {
            fault(
                "while it does not answer each write waits for more than 15 s, beyond the patience \
                 of most clients: give timeoutSeconds",
            );
        }
    }
    findings.into_vec()
}

fn rules(webhook: &Value) -> impl Iterator<Item = &Value> {
    webhook["rules"].as_array().into_iter().flatten()
}

fn names(rule: &Value, field: &str, name: &str) -> bool {
    let all = rule[field].as_array().into_iter().flatten();
    all.into_iter().any(|one| one == name)
}

fn has_wildcard(webhook: &Value) -> bool {
    rules(webhook).any(|rule| {
        names(rule, "apiGroups", "*")
            && (names(rule, "resources", "*") || names(rule, "resources", "*/*"))
    })
}

/// Pods themselves, or what makes them.
fn is_asked_about_pods(webhook: &Value) -> bool {
    let makes_pods = |rule: &Value| {
        let core = names(rule, "apiGroups", "") || names(rule, "apiGroups", "*");
        let apps = names(rule, "apiGroups", "apps") || names(rule, "apiGroups", "*");
        let of = |resource| names(rule, "resources", resource);
        let pods = core && (of("pods") || of("*"));
        let sets = apps && (of("deployments") || of("replicasets") || of("daemonsets") || of("*"));
        let coming = names(rule, "operations", "CREATE") || names(rule, "operations", "*");
        coming && (pods || sets)
    };
    rules(webhook).any(makes_pods)
}

fn spares_system_namespaces(webhook: &Value) -> bool {
    let selector = &webhook["namespaceSelector"];
    // Whoever asks for a label is not asked about namespaces that nobody labelled.
    let opts_in = selector["matchLabels"]
        .as_object()
        .is_some_and(|labels| !labels.is_empty());
    let expressions = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    let excludes = expressions.into_iter().any(|one| {
        let by_name = one["key"] == NAMESPACE_NAME
            && one["operator"] == "NotIn"
            && names(one, "values", "kube-system");
        by_name
            || matches!(
                one["operator"].as_str(),
                Some("In" | "Exists" | "DoesNotExist")
            )
    });
    let objects = &webhook["objectSelector"]["matchLabels"];
    opts_in || excludes || objects.as_object().is_some_and(|labels| !labels.is_empty())
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
    fn a_webhook_with_its_guards_has_no_fault() {
        assert_eq!(faults(json!({})), 0);
        let own_kind = json!({"namespaceSelector": {}, "rules": [{"apiGroups": ["ex.io"],
            "operations": ["CREATE"], "resources": ["sets"]}]});
        assert_eq!(faults(own_kind), 0);
    }

    #[test]
    fn each_missing_guard_is_a_fault() {
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
