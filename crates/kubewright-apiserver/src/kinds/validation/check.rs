use kubewright_core::Kind;
use kubewright_wire::status::Cause;
use serde_json::Value;

use super::{Findings, access, deployment, event, node, pod, records, service};

/// What is wrong with an object beside its metadata. For a changed one, `old` is what was stored.
pub(crate) fn validate(kind: &Kind, object: &Value, old: Option<&Value>) -> Vec<Cause> {
    let mut findings = Findings::default();
    let check = checker(kind);
    if let Some(check) = check {
        check(object, old, &mut findings);
    }
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
        ("apps", "Deployment") => deployment::deployment,
        ("coordination.k8s.io", "Lease") => records::lease,
        ("rbac.authorization.k8s.io", "Role") => access::role,
        ("rbac.authorization.k8s.io", "ClusterRole") => access::cluster_role,
        ("rbac.authorization.k8s.io", "RoleBinding") => access::role_binding,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => access::cluster_role_binding,
        _ => return None,
    })
}
