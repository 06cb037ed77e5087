use kubewright_core::Kind;
use serde_json::{Map, Value};

use super::{pod, service, small, workload};

/// The defaults of a kind that depend on other fields.
pub(super) fn rules(kind: &Kind, object: &mut Map<String, Value>) {
    match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => pod::fill_pod(object),
        ("", "Service") => service::fill(object),
        ("", "Namespace") => small::namespace(object),
        ("", "Node") => small::node(object),
        ("", "LimitRange") => small::limit_range(object),
        ("", "ResourceQuota") => small::resource_quota(object),
        ("", "PersistentVolumeClaim") => small::claim(object),
        ("", "PersistentVolume") => small::volume(object),
        ("", "ReplicationController") => workload::replication_controller(object),
        ("apps", "Deployment") => workload::deployment(object),
        ("apps", "DaemonSet") => workload::daemon_set(object),
        ("apps", "StatefulSet") => workload::stateful_set(object),
        ("batch", "Job") => workload::job(object),
        ("autoscaling", "HorizontalPodAutoscaler") if kind.version() == "v1" => {
            small::old_autoscaler(object);
        }
        ("networking.k8s.io", "NetworkPolicy") => small::network_policy(object),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            small::subjects(object);
        }
        ("resource.k8s.io", _) => small::devices(object),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::defaults;

    /// What a function here fills in, or for good reason nobody: the time of a taint of a device
    /// is that of the request.
    const RULED: [&str; 12] = [
        ".imagePullPolicy",
        ".image.pullPolicy",
        ".emptyDir",
        ".internalTrafficPolicy",
        "trategy.rollingUpdate",
        " spec.backoffLimit",
        " spec.completions",
        " spec.podReplacementPolicy",
        " spec.policyTypes",
        ".exactly.count",
        ".firstAvailable.0.count",
        ".taints.0.timeAdded",
    ];

    #[test]
    fn every_default_that_depends_on_others_has_a_rule() {
        for path in &defaults().conditional {
            assert!(RULED.iter().any(|rule| path.ends_with(rule)), "{path}");
        }
    }
}
