//! SelfSubjectRulesReviews: the permissions of a user.

use kubewright_core::PolicyRule;
use kubewright_kinds::authorization::SELF_SUBJECT_RULES_REVIEW;
use kubewright_kinds::json::text;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::rbac::Rbac;
use crate::aggregate::aggregate;
use crate::authentication::User;

/// Fills in a SelfSubjectRulesReview: the permissions of a user in a namespace
/// (pkg/registry/authorization/selfsubjectrulesreview).
pub(super) fn review_rules(user: &User, body: &Value, rbac: &Rbac) -> Result<Value, Status> {
    let namespace = text(&body["spec"]["namespace"]);
    if namespace.is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    let (rules, errors) = rbac.rules_for(user, namespace);
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
    if !errors.is_empty() {
        status["evaluationError"] = aggregate(&errors).into();
    }
    let kind = SELF_SUBJECT_RULES_REVIEW.in_version("v1");
    Ok(json!({
        "kind": kind.kind,
        "apiVersion": kind.api_version(),
        "metadata": {},
        "spec": {},
        "status": status,
    }))
}

fn resource_rule(rule: &PolicyRule) -> Value {
    let mut value = json!({
        "verbs": rule.verbs,
        "apiGroups": rule.api_groups,
        "resources": rule.resources,
    });
    if !rule.resource_names.is_empty() {
        value["resourceNames"] = rule.resource_names.clone().into();
    }
    value
}
