//! The status of a node that its kubelet reports.

use serde_json::{Value, json};

use crate::framework::{is_true, items, text};

/// The address of a node that has none of its own.
const DEFAULT_ADDRESS: &str = "127.0.0.1";

/// The version that the kubelet reports.
const KUBELET_VERSION: &str = "v1.36.3";

/// The status that makes a node ready; `None` when it is ready already.
pub(super) fn ready_status(node: &Value, now: &str) -> Option<Value> {
    if is_true(node, "Ready") {
        return None;
    }
    let since = match text(node, "/metadata/creationTimestamp") {
        "" => now,
        time => time,
    };
    let conditions: Vec<_> = CONDITIONS
        .into_iter()
        .map(|condition| {
            json!({
                "type": condition.kind,
                "status": condition.status,
                "reason": condition.reason,
                "message": condition.message,
                "lastHeartbeatTime": now,
                "lastTransitionTime": since,
            })
        })
        .collect();
    let resources = |field: &str| {
        let given = node.pointer(&format!("/status/{field}"));
        given
            .filter(|given| given.as_object().is_some_and(|given| !given.is_empty()))
            .cloned()
            .unwrap_or_else(|| json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"}))
    };
    Some(json!({
        "addresses": addresses(node),
        "allocatable": resources("allocatable"),
        "capacity": resources("capacity"),
        "conditions": conditions,
        // Nothing listens: simulated nodes serve neither logs nor exec.
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": node_info(node),
        "phase": "Running",
    }))
}

/// The address that the node's Pods report as `hostIP`.
pub(super) fn host_address(node: &Value) -> &str {
    let mut addresses = items(node, "/status/addresses").iter();
    let internal = addresses.find(|entry| text(entry, "/type") == "InternalIP");
    internal.map_or(DEFAULT_ADDRESS, |entry| text(entry, "/address"))
}

/// A condition of a ready node.
struct NodeCondition {
    kind: &'static str,
    status: &'static str,
    reason: &'static str,
    message: &'static str,
}

const CONDITIONS: [NodeCondition; 5] = [
    NodeCondition {
        kind: "Ready",
        status: "True",
        reason: "KubeletReady",
        message: "kubelet is posting ready status",
    },
    NodeCondition {
        kind: "MemoryPressure",
        status: "False",
        reason: "KubeletHasSufficientMemory",
        message: "kubelet has sufficient memory available",
    },
    NodeCondition {
        kind: "DiskPressure",
        status: "False",
        reason: "KubeletHasNoDiskPressure",
        message: "kubelet has no disk pressure",
    },
    NodeCondition {
        kind: "PIDPressure",
        status: "False",
        reason: "KubeletHasSufficientPID",
        message: "kubelet has sufficient PID available",
    },
    NodeCondition {
        kind: "NetworkUnavailable",
        status: "False",
        reason: "RouteCreated",
        message: "RouteController created a route",
    },
];

/// The node's addresses, and a default for each type that it lacks.
fn addresses(node: &Value) -> Vec<Value> {
    let mut addresses = items(node, "/status/addresses").to_vec();
    for (kind, address) in [
        ("InternalIP", DEFAULT_ADDRESS),
        ("Hostname", text(node, "/metadata/name")),
    ] {
        if !addresses.iter().any(|entry| text(entry, "/type") == kind) {
            addresses.push(json!({"type": kind, "address": address}));
        }
    }
    addresses
}

fn node_info(node: &Value) -> Value {
    let field = |name: &str, default: &str| {
        let given = text(node, &format!("/status/nodeInfo/{name}"));
        if given.is_empty() {
            default.to_owned()
        } else {
            given.to_owned()
        }
    };
    json!({
        "architecture": field("architecture", "amd64"),
        "bootID": field("bootID", ""),
        "containerRuntimeVersion": field("containerRuntimeVersion", "sim://1"),
        "kernelVersion": field("kernelVersion", ""),
        "kubeProxyVersion": field("kubeProxyVersion", ""),
        "kubeletVersion": field("kubeletVersion", KUBELET_VERSION),
        "machineID": field("machineID", ""),
        "operatingSystem": field("operatingSystem", "linux"),
        "osImage": field("osImage", ""),
        "systemUUID": field("systemUUID", ""),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{host_address, ready_status};

    #[test]
    fn new_node_becomes_ready_once_and_keeps_its_capacity() {
        let node = json!({
            "metadata": {"name": "n1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"capacity": {"pods": "5"}},
        });
        let status = ready_status(&node, "2026-01-01T00:00:09Z").unwrap();
        assert_eq!(status["capacity"], json!({"pods": "5"}));
        assert_eq!(status["allocatable"]["pods"], "1M");
        assert_eq!(status["conditions"][0]["type"], "Ready");
        assert_eq!(
            status["conditions"][0]["lastHeartbeatTime"],
            "2026-01-01T00:00:09Z"
        );
        assert_eq!(
            status["conditions"][0]["lastTransitionTime"],
            "2026-01-01T00:00:00Z"
        );
        let ready_node = json!({"status": status});
        assert_eq!(host_address(&ready_node), "127.0.0.1");
        assert_eq!(ready_status(&ready_node, "2026-01-01T00:00:10Z"), None);
    }

    #[test]
    fn internal_address_of_the_node_is_kept() {
        let address = json!({"type": "InternalIP", "address": "10.1.1.1"});
        let node = json!({"metadata": {"name": "n1"}, "status": {"addresses": [address]}});
        let status = ready_status(&node, "2026-01-01T00:00:09Z").unwrap();
        assert_eq!(
            status["addresses"],
            json!([address, {"type": "Hostname", "address": "n1"}])
        );
        assert_eq!(host_address(&node), "10.1.1.1");
    }
}
