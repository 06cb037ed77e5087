/// Kubernetes' own groups, and the module of `k8s_openapi::api` that has their kinds.
const GROUPS: [(&str, &str); 18] = [
    ("", "core"),
    ("admissionregistration.k8s.io", "admissionregistration"),
    ("apps", "apps"),
    ("authentication.k8s.io", "authentication"),
    ("authorization.k8s.io", "authorization"),
    ("autoscaling", "autoscaling"),
    ("batch", "batch"),
    ("certificates.k8s.io", "certificates"),
    ("coordination.k8s.io", "coordination"),
    ("discovery.k8s.io", "discovery"),
    ("events.k8s.io", "events"),
    ("flowcontrol.apiserver.k8s.io", "flowcontrol"),
    ("networking.k8s.io", "networking"),
    ("policy", "policy"),
    ("rbac.authorization.k8s.io", "rbac"),
    ("resource.k8s.io", "resource"),
    ("scheduling.k8s.io", "scheduling"),
    ("storage.k8s.io", "storage"),
];

/// Kinds of Kubernetes whose objects have no namespace.
const CLUSTER_SCOPED: [&str; 23] = [
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "DeviceClass",
    "FlowSchema",
    "IPAddress",
    "IngressClass",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceSlice",
    "ServiceCIDR",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "VolumeAttachment",
];

/// Whether objects of the kind live in namespaces.
pub(super) fn is_namespaced(kind: &str) -> bool {
    !CLUSTER_SCOPED.contains(&kind)
}

/// Whether Kubernetes itself has the group; `core` is the one without a name.
pub(super) fn is_known_group(group: &str) -> bool {
    group == "core" || GROUPS.iter().any(|(known, _)| *known == group)
}

/// Where Rust has a kind of Kubernetes.
pub(super) fn rust_path(group: &str, version: &str, kind: &str) -> Option<String> {
    let group = if group == "core" { "" } else { group };
    let (_, module) = GROUPS.iter().find(|(known, _)| *known == group)?;
    Some(format!(
        "kubewright::k8s_openapi::api::{module}::{version}::{kind}"
    ))
}

#[cfg(test)]
mod tests {
    use super::rust_path;

    #[test]
    fn kinds_of_kubernetes_have_a_path() {
        assert_eq!(
            rust_path("core", "v1", "Pod").as_deref(),
            Some("kubewright::k8s_openapi::api::core::v1::Pod")
        );
        assert_eq!(
            rust_path("networking.k8s.io", "v1", "Ingress").as_deref(),
            Some("kubewright::k8s_openapi::api::networking::v1::Ingress")
        );
        assert_eq!(rust_path("web.example.com", "v1", "Site"), None);
    }
}
