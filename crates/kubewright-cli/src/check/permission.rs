//! Checks of roles: wildcards, and permissions that no test used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::finding::{Finding, Findings, Rule};

/// Checks the rules of roles that have a binding.
pub(super) fn check_wildcards(objects: &[Value]) -> Vec<Finding> {
    let bound: BTreeSet<&str> = objects
        .iter()
        .filter_map(|object| object["roleRef"]["name"].as_str())
        .collect();
    let mut all = Vec::new();
    for role in objects.iter().filter(|object| is_role(object)) {
        let name = role["metadata"]["name"].as_str().unwrap_or_default();
        if !bound.contains(name) {
            continue;
        }
        let mut findings = Findings::of(role);
        for rule in role["rules"].as_array().into_iter().flatten() {
            for (field, granted) in [
                ("apiGroups", "every group"),
                ("resources", "every resource"),
                ("verbs", "every verb"),
            ] {
                if texts(&rule[field]).any(|text| text == "*") {
                    let place = format!("{field} of {}", resources_of(rule));
                    let message = format!(
                        "it grants {granted}, also those of later versions: list the ones it needs"
                    );
                    findings.add(Rule::Wildcard, place, message);
                }
            }
        }
        all.extend(findings.into_vec());
    }
    all
}

/// Reports permissions of the operator's role that none of the requests (`verb group/resource`)
/// used.
pub(super) fn check_unused(objects: &[Value], requests: &BTreeSet<String>) -> Vec<Finding> {
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let name = account.map(|account| &account["metadata"]["name"]);
    let role = objects.iter().find(|object| {
        object["kind"] == "ClusterRole" && Some(&object["metadata"]["name"]) == name
    });
    let Some(role) = role else {
        return Vec::new();
    };
    let mut findings = Findings::of(role);
    for (resource, granted) in granted(role) {
        let requested = |verb: &str| requests.contains(&format!("{verb} {resource}"));
        let unused: Vec<&str> = granted
            .iter()
            .filter(|verb| !is_used(verb, &requested))
            .map(String::as_str)
            .collect();
        if !unused.is_empty() {
            let message = format!(
                "{} is granted and no test used it: narrow the registration, or test it",
                unused.join(", ")
            );
            findings.add(Rule::Unused, resource, message);
        }
    }
    findings.into_vec()
}

/// The verbs for reads are granted together, and a server-side apply that creates an object needs
/// `create` as well.
fn is_used(verb: &str, requested: &dyn Fn(&str) -> bool) -> bool {
    match verb {
        "get" | "list" | "watch" => ["get", "list", "watch"].into_iter().any(requested),
        "create" => requested("create") || requested("patch"),
        other => requested(other),
    }
}

/// Returns the granted verbs of each `group/resource`.
fn granted(role: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut granted: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for rule in role["rules"].as_array().into_iter().flatten() {
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                if is_used_outside_tests(group, resource) {
                    continue;
                }
                let verbs = granted.entry(format!("{group}/{resource}")).or_default();
                verbs.extend(texts(&rule["verbs"]).map(str::to_owned));
            }
        }
    }
    granted
}

/// Whether no test can use the permission: the API server checks finalizers when an owner reference
/// blocks deletion, and leases and reviews belong to the manager, which does not run in tests.
fn is_used_outside_tests(group: &str, resource: &str) -> bool {
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

fn resources_of(rule: &Value) -> String {
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
    fn unused_verbs_are_reported_by_resource() {
        let requests = ["list /pods", "watch /pods", "patch /pods"];
        let requests = BTreeSet::from(requests.map(str::to_owned));
        let findings = check_unused(&objects(), &requests);
        let unused: Vec<_> = findings
            .iter()
            .map(|finding| {
                let verbs = finding.message.split(" is granted").next().unwrap();
                (finding.place.as_str(), verbs)
            })
            .collect();
        assert_eq!(
            unused,
            [("/pods", "delete"), ("/secrets", "get, list, watch")]
        );
    }

    #[test]
    fn wildcard_is_reported_only_for_a_role_with_a_binding() {
        assert!(check_wildcards(&objects()).is_empty());
        let mut objects = objects();
        objects[1]["rules"][0]["verbs"] = json!(["*"]);
        assert_eq!(check_wildcards(&objects).len(), 1);
    }
}
