use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::{Finding, Findings, Rule};

/// Looks at the rules of roles that somebody is bound to.
pub(super) fn check_wildcards(objects: &[Value]) -> Vec<Finding> {
    let bound: BTreeSet<&str> = objects
        .iter()
        .filter_map(|object| object["roleRef"]["name"].as_str())
        .collect();
    let mut found = Vec::new();
    for role in objects.iter().filter(|object| is_role(object)) {
        let name = role["metadata"]["name"].as_str().unwrap_or_default();
        if !bound.contains(name) {
            continue;
        }
        let mut findings = Findings::of(role);
        for rule in role["rules"].as_array().into_iter().flatten() {
            for (field, what) in [
                ("apiGroups", "every group"),
                ("resources", "every resource"),
                ("verbs", "everything"),
            ] {
                let has_all = texts(&rule[field]).any(|one| one == "*");
                if has_all {
                    let place = format!("{field} of {}", short(rule));
                    let message = format!(
                        "it allows {what}, also what comes with later versions: name what is needed"
                    );
                    findings.add(Rule::Wildcard, place, message);
                }
            }
        }
        found.extend(findings.into_vec());
    }
    found
}

/// What the operator's own role grants and none of these requests (`verb group/resource`) used.
pub(super) fn check_unused(objects: &[Value], used: &BTreeSet<String>) -> Vec<Finding> {
    let account = objects.iter().find(|one| one["kind"] == "ServiceAccount");
    let name = account.map(|account| &account["metadata"]["name"]);
    let role = objects
        .iter()
        .find(|one| one["kind"] == "ClusterRole" && Some(&one["metadata"]["name"]) == name);
    let Some(role) = role else {
        return Vec::new();
    };
    let mut findings = Findings::of(role);
    for (resource, granted) in granted(role) {
        let asked = |verb: &str| used.contains(&format!("{verb} {resource}"));
        let unused: Vec<&str> = granted
            .iter()
            .filter(|verb| !is_used(verb, &asked))
            .map(String::as_str)
            .collect();
        if !unused.is_empty() {
            let message = format!(
                "{} was granted, and no test used it: register less, or test it",
                unused.join(", ")
            );
            findings.add(Rule::Unused, resource, message);
        }
    }
    findings.into_vec()
}

/// Reading is granted as one, and a server-side apply that makes an object needs `create` too.
fn is_used(verb: &str, asked: &dyn Fn(&str) -> bool) -> bool {
    match verb {
        "get" | "list" | "watch" => ["get", "list", "watch"].into_iter().any(asked),
        "create" => asked("create") || asked("patch"),
        other => asked(other),
    }
}

/// The verbs of each resource, as `group/resource`.
fn granted(role: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut granted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for rule in role["rules"].as_array().into_iter().flatten() {
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                if is_asked_by_others(group, resource) {
                    continue;
                }
                let verbs = granted.entry(format!("{group}/{resource}")).or_default();
                verbs.extend(texts(&rule["verbs"]).map(str::to_owned));
            }
        }
    }
    granted
}

/// Finalizers are looked at by the API server when an owner reference blocks deletion; leases and
/// reviews belong to the manager, which is not part of a test.
fn is_asked_by_others(group: &str, resource: &str) -> bool {
    resource.ends_with("/finalizers")
        || matches!(
            group,
            "coordination.k8s.io" | "authentication.k8s.io" | "authorization.k8s.io" | "*"
        )
}

fn is_role(object: &Value) -> bool {
    object["kind"] == "ClusterRole" || object["kind"] == "Role"
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn short(rule: &Value) -> String {
    let resources: Vec<&str> = texts(&rule["resources"]).collect();
    resources.join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::{check_unused, check_wildcards};

    fn objects() -> Vec<Value> {
        vec![
            json!({"kind": "ServiceAccount", "metadata": {"name": "web"}}),
            json!({"kind": "ClusterRole", "metadata": {"name": "web"}, "rules": [
                {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch", "create", "patch", "delete"]},
                {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]},
                {"apiGroups": ["ex.io"], "resources": ["sites/finalizers"], "verbs": ["update"]},
            ]}),
            json!({"kind": "ClusterRole", "metadata": {"name": "web-admin"}, "rules": [
                {"apiGroups": ["ex.io"], "resources": ["sites"], "verbs": ["*"]},
            ]}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "web"}, "roleRef": {"name": "web"}}),
        ]
    }

    #[test]
    fn what_no_test_used_is_told_by_resource() {
        let used = ["list /pods", "watch /pods", "patch /pods"];
        let used: BTreeSet<String> = used.into_iter().map(str::to_owned).collect();
        let found = check_unused(&objects(), &used);
        let told: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.place.as_str(),
                    one.message.split(" was").next().unwrap(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [("/pods", "delete"), ("/secrets", "get, list, watch")]
        );
    }

    #[test]
    fn only_roles_that_somebody_has_must_not_allow_everything() {
        assert!(check_wildcards(&objects()).is_empty());
        let mut objects = objects();
        objects[1]["rules"][0]["verbs"] = json!(["*"]);
        assert_eq!(check_wildcards(&objects).len(), 1);
    }
}
