//! The Service and roles for an operator's metrics.

use kubewright_core::Description;
use serde_json::{Value, json};

use crate::names::{METRICS_PORT, labels};

/// The objects for reading metrics: a Service, a role with which the operator authenticates and
/// authorizes the readers, and a role for the readers, which has no binding.
pub(crate) fn metrics_objects(description: &Description, namespace: &str) -> Vec<Value> {
    let name = description.name.as_str();
    let labels = labels(description);
    let (auth, reader) = (
        format!("{name}-metrics-auth"),
        format!("{name}-metrics-reader"),
    );
    let create = |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["create"]});
    vec![
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": auth, "labels": labels},
            "rules": [
                create("authentication.k8s.io", "tokenreviews"),
                create("authorization.k8s.io", "subjectaccessreviews"),
            ],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": auth, "labels": labels},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": auth},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": reader, "labels": labels},
            "rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
        }),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": format!("{name}-metrics"),
                "namespace": namespace,
                "labels": labels,
            },
            "spec": {
                "selector": labels,
                "ports": [{
                    "name": "https",
                    "port": METRICS_PORT,
                    "targetPort": "metrics",
                    "protocol": "TCP",
                }],
            },
        }),
    ]
}
