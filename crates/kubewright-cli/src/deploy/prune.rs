//! Objects that earlier runs applied and that the operator no longer has.

use serde_json::Value;

use crate::error::Error;
use crate::objects::{self, EarlierRuns, FIELD_MANAGER, KindName, Located, POLICY_KINDS};

/// The kinds in the manifests of operators, without policies. Namespaces and definitions are not
/// among them: deleting these would delete objects of users.
const KINDS: [KindName; 15] = [
    (
        "admissionregistration.k8s.io",
        "v1",
        "MutatingWebhookConfiguration",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
    ),
    ("apps", "v1", "Deployment"),
    ("cert-manager.io", "v1", "Certificate"),
    ("cert-manager.io", "v1", "Issuer"),
    ("monitoring.coreos.com", "v1", "ServiceMonitor"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("", "v1", "Service"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
    ("rbac.authorization.k8s.io", "v1", "Role"),
    ("", "v1", "ServiceAccount"),
    ("", "v1", "Secret"),
];

/// Returns the name of the operator, which is the name of its account.
pub(super) fn operator_name(objects: &[Value]) -> String {
    let account = objects
        .iter()
        .find(|object| object["kind"] == "ServiceAccount");
    let name = account.and_then(|account| account["metadata"]["name"].as_str());
    name.unwrap_or_default().to_owned()
}

/// Returns the objects that earlier runs applied for the operator and that it no longer has.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn leftovers(
    client: &kube::Client,
    operator: &str,
    current: &[Located],
) -> Result<Vec<Located>, Error> {
    let runs = EarlierRuns {
        operator,
        manager: FIELD_MANAGER,
        kinds: &[&POLICY_KINDS[..], &KINDS].concat(),
    };
    objects::leftovers(client, runs, current).await
}

/// Returns the definitions that earlier runs applied for the operator and that it no longer has.
/// They are never deleted, because that would delete objects of users.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn earlier_definitions(
    client: &kube::Client,
    operator: &str,
    current: &[Located],
) -> Result<Vec<Located>, Error> {
    let runs = EarlierRuns {
        operator,
        manager: FIELD_MANAGER,
        kinds: &[("apiextensions.k8s.io", "v1", "CustomResourceDefinition")],
    };
    objects::leftovers(client, runs, current).await
}
