use crate::error::Error;
use crate::objects::{self, FIELD_MANAGER, Former, KindName, Located, POLICY_KINDS};

/// The kinds beside policies that an operator's manifests may consist of, but for namespaces and
/// definitions, which take objects of users along.
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

/// Objects that an earlier run applied for the operator and that are not among `wanted`.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn left_over(
    client: &kube::Client,
    operator: &str,
    wanted: &[Located],
) -> Result<Vec<Located>, Error> {
    let former = Former {
        operator,
        manager: FIELD_MANAGER,
        kinds: &[&POLICY_KINDS[..], &KINDS].concat(),
    };
    objects::left_over(client, former, wanted).await
}

/// Definitions that an earlier run applied for the operator and that are not among `wanted`: they
/// are named, and never deleted, because objects of users would go with them.
///
/// # Cancel safety
///
/// Safe: it only reads.
pub(super) async fn former_definitions(
    client: &kube::Client,
    operator: &str,
    wanted: &[Located],
) -> Result<Vec<Located>, Error> {
    let former = Former {
        operator,
        manager: FIELD_MANAGER,
        kinds: &[("apiextensions.k8s.io", "v1", "CustomResourceDefinition")],
    };
    objects::left_over(client, former, wanted).await
}
