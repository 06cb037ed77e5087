use serde_json::Value;

use super::formats::subdomain;
use super::labels::{SelectorValues, label_selector};
use super::{At, Findings};
use crate::kinds::NameRule;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Where a role or binding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Namespace,
    Cluster,
}

/// `ValidateRole`.
pub(super) fn role(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    rules(object, Reach::Namespace, findings);
}

/// `ValidateClusterRole`.
pub(super) fn cluster_role(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    rules(object, Reach::Cluster, findings);
    let rule = At::top(object, "aggregationRule");
    if !rule.is_set() {
        return;
    }
    let selectors = rule.field("clusterRoleSelectors");
    if selectors.is_empty() {
        let detail = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        findings.required(selectors, detail);
    }
    for selector in selectors.items() {
        let before = findings.count();
        label_selector(selector, SelectorValues::Checked, findings);
        if findings.count() > before {
            findings.invalid_value(selector, &Value::Null, "invalid label selector.");
        }
    }
}

fn rules(object: &Value, reach: Reach, findings: &mut Findings) {
    for rule in At::top(object, "rules").items() {
        if rule.field("verbs").is_empty() {
            let detail = "verbs must contain at least one value";
            findings.required(rule.field("verbs"), detail);
        }
        let has = |field: &str| !rule.field(field).is_empty();
        let urls = rule.field("nonResourceURLs");
        if !urls.is_empty() {
            if reach == Reach::Namespace {
                findings.invalid(urls, "namespaced rules cannot apply to non-resource URLs");
            }
            if has("apiGroups") || has("resources") || has("resourceNames") {
                let detail = "rules cannot apply to both regular resources and non-resource URLs";
                findings.invalid(urls, detail);
            }
            continue;
        }
        if !has("apiGroups") {
            let detail = "resource rules must supply at least one api group";
            findings.required(rule.field("apiGroups"), detail);
        }
        if !has("resources") {
            let detail = "resource rules must supply at least one resource";
            findings.required(rule.field("resources"), detail);
        }
    }
}

/// `ValidateRoleBinding`.
pub(super) fn role_binding(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    binding(
        object,
        (Reach::Namespace, &["Role", "ClusterRole"]),
        findings,
    );
}

/// `ValidateClusterRoleBinding`.
pub(super) fn cluster_role_binding(object: &Value, _: Option<&Value>, findings: &mut Findings) {
    binding(object, (Reach::Cluster, &["ClusterRole"]), findings);
}

fn binding(object: &Value, (reach, kinds): (Reach, &[&str]), findings: &mut Findings) {
    let role = At::top(object, "roleRef");
    if role.text_of("apiGroup") != GROUP {
        findings.unsupported(role.field("apiGroup"), &[GROUP]);
    }
    if !kinds.contains(&role.text_of("kind")) {
        findings.unsupported(role.field("kind"), kinds);
    }
    let name = role.field("name");
    match name.text() {
        "" => findings.required(name, ""),
        text => findings.problems(name, NameRule::PathSegment.problems(text)),
    }
    for one in At::top(object, "subjects").items() {
        subject(one, reach, findings);
    }
}

fn subject(at: At<'_>, reach: Reach, findings: &mut Findings) {
    let name = at.field("name");
    if name.text().is_empty() {
        findings.required(name, "");
    }
    match at.text_of("kind") {
        "ServiceAccount" => {
            if !name.text().is_empty() {
                findings.problems(name, subdomain(name.text()));
            }
            if !at.text_of("apiGroup").is_empty() {
                findings.unsupported(at.field("apiGroup"), &[""]);
            }
            if reach == Reach::Cluster && at.text_of("namespace").is_empty() {
                findings.required(at.field("namespace"), "");
            }
        }
        "User" | "Group" if at.text_of("apiGroup") != GROUP => {
            findings.unsupported(at.field("apiGroup"), &[GROUP]);
        }
        "User" | "Group" => {}
        _ => findings.unsupported(at.field("kind"), &["ServiceAccount", "User", "Group"]),
    }
}
