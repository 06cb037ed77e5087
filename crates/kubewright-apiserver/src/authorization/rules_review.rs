//! SelfSubjectRulesReviews: the permissions of a user.

use kubewright_core::PolicyRule;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::rbac::Rbac;
use crate::authentication::User;

/// Fills in a SelfSubjectRulesReview: the permissions of a user in a namespace
/// (pkg/registry/authorization/selfsubjectrulesreview).
pub(super) fn review_rules(user: &User, body: &Value, rbac: &Rbac) -> Result<Value, Status> {
    let namespace = body.pointer("/spec/namespace").and_then(Value::as_str);
    let namespace = namespace.unwrap_or_default();
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let (rules, problems) = rbac.rules_for(user, namespace);
    let for_resources = rules.iter().filter(|rule| !rule.resources.is_empty());
    let for_paths = rules
        .iter()
        .filter(|rule| !rule.non_resource_urls.is_empty());
    let mut status = json!({
        "resourceRules": for_resources.map(resource_rule).collect::<Vec<_>>(),
        "nonResourceRules": for_paths
            .map(|rule| json!({"verbs": rule.verbs, "nonResourceURLs": rule.non_resource_urls}))
            .collect::<Vec<_>>(),
        "incomplete": false,
    });
    if !problems.is_empty() {
        let problems = match problems.as_slice() {
            [single] => single.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        status["evaluationError"] = problems.into();
    }
    Ok(json!({
        "kind": "SelfSubjectRulesReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": {},
        "status": status,
    }))
}

fn resource_rule(rule: &PolicyRule) -> Value {
    let mut written = json!({
        "verbs": rule.verbs,
        "apiGroups": rule.api_groups,
        "resources": rule.resources,
    });
    if !rule.resource_names.is_empty() {
        written["resourceNames"] = rule.resource_names.clone().into();
    }
    written
}
