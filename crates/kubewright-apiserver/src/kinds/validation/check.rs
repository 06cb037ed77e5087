use kubewright_core::Kind;
use kubewright_wire::status::Cause;
use serde_json::Value;

use super::{
    Findings, access, budget, deployment, endpoint_slice, event, limit_range, node, pod, policy,
    records, replica_set, resource_quota, service, status,
};

/// What is wrong with an object beside its metadata. For a changed one, `old` is what was stored.
pub(crate) fn validate(kind: &Kind, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut findings = Findings::default();
    let check = checker(kind);
    if let Some(check) = check {
        check(object, old, &mut findings);
    }
    findings.into_causes()
}

/// What is wrong with an object of which only the status was written.
pub(crate) fn validate_status(kind: &Kind, object: &Value, old: &Value) -> Vec<Cause> {
    let mut findings = Findings::default();
    if let Some(check) = status_checker(kind) {
        check(object, old, &mut findings);
    }
    findings.into_causes()
}

/// What is wrong with the finalizers that a Namespace is to have.
pub(crate) fn validate_finalized(namespace: &Value) -> Vec<Cause> {
    let mut findings = Findings::default();
    records::finalized_namespace(namespace, &mut findings);
    findings.into_causes()
}

/// Whether the rules of a kind are known here.
pub(crate) fn is_validated(kind: &Kind) -> bool {
    let is_account = kind.group().is_empty() && kind.kind == "ServiceAccount";
    let is_definition = kind.group() == "apiextensions.k8s.io";
    checker(kind).is_some() || is_account || is_definition
}

type Check = fn(&Value, Option<&Value>, &mut Findings);

fn checker(kind: &Kind) -> Option<Check> {
    Some(match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => pod::pod,
        ("", "PodTemplate") => pod::pod_template,
        ("", "Namespace") => records::namespace,
        ("", "ConfigMap") => records::config_map,
        ("", "Secret") => records::secret,
        ("", "Node") => node::node,
        ("", "Service") => service::service,
        ("", "Event") => event::event,
        ("", "LimitRange") => limit_range::limit_range,
        ("", "ResourceQuota") => resource_quota::resource_quota,
        ("apps", "Deployment") => deployment::deployment,
        ("apps", "ReplicaSet") => replica_set::replica_set,
        ("policy", "PodDisruptionBudget") => budget::budget,
        ("admissionregistration.k8s.io", kind) => match kind {
            "ValidatingAdmissionPolicy" => policy::validating_policy,
            "ValidatingAdmissionPolicyBinding" => policy::validating_binding,
            "MutatingAdmissionPolicy" => policy::mutating_policy,
            "MutatingAdmissionPolicyBinding" => policy::mutating_binding,
            _ => return None,
        },
        ("events.k8s.io", "Event") => event::newer_event,
        ("coordination.k8s.io", "Lease") => records::lease,
        ("discovery.k8s.io", "EndpointSlice") => endpoint_slice::endpoint_slice,
        ("rbac.authorization.k8s.io", "Role") => access::role,
        ("rbac.authorization.k8s.io", "ClusterRole") => access::cluster_role,
        ("rbac.authorization.k8s.io", "RoleBinding") => access::role_binding,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => access::cluster_role_binding,
        _ => return None,
    })
}

type StatusCheck = fn(&Value, &Value, &mut Findings);

fn status_checker(kind: &Kind) -> Option<StatusCheck> {
    Some(match (kind.group(), kind.kind.as_str()) {
        ("", "Namespace") => status::namespace,
        ("", "Node") => node::node_status,
        ("", "Pod") => pod::pod_status,
        ("", "ResourceQuota") => resource_quota::resource_quota_status,
        ("", "Service") => status::service,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => policy::policy_status,
        ("apps", "Deployment") => status::deployment,
        ("apps", "ReplicaSet") => status::replica_set,
        ("policy", "PodDisruptionBudget") => status::budget,
        _ => return None,
    })
}
