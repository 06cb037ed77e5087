//! The manifest of a simulated node.

use kubewright_kinds::core;
use serde_json::{Value, json};

/// The Node object of a simulated node, as a kubelet registers it: with the labels that every node
/// has, and with a capacity of 110 Pods. The cluster's kubelet makes it ready.
pub fn node(name: &str) -> Value {
    let resources = json!({"cpu": "8", "memory": "16Gi", "pods": "110"});
    json!({
        "apiVersion": "v1",
        "kind": core::NODE.kind,
        "metadata": {
            "name": name,
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "beta.kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
            },
        },
        "spec": {},
        "status": {"allocatable": resources, "capacity": resources},
    })
}
