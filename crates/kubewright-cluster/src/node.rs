use serde_json::{Value, json};

/// A Node that is only an object, as a kubelet registers one: with the labels that every node
/// has, and with room for 110 Pods. The cluster's kubelet makes it ready.
pub fn node(name: &str) -> Value {
    let room = json!({"cpu": "8", "memory": "16Gi", "pods": "110"});
    json!({
        "apiVersion": "v1",
        "kind": "Node",
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
        "status": {"allocatable": room, "capacity": room},
    })
}
