use kubewright_core::PolicyRule;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::Policy;
use crate::who::User;

/// Answers a SelfSubjectRulesReview: what a user may do in a namespace
/// (pkg/registry/authorization/selfsubjectrulesreview).
pub(super) fn answer_rules_review(
    user: &User,
    body: &Value,
    policy: &Policy,
) -> Result<Value, Status> {
    let namespace = body.pointer("/spec/namespace").and_then(Value::as_str);
    let namespace = namespace.unwrap_or_default();
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let (rules, faults) = policy.rules_for(user, namespace);
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
    if !faults.is_empty() {
        let faults = match faults.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        status["evaluationError"] = faults.into();
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
