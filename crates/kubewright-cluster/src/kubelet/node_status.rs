use serde_json::{Value, json};

use crate::view::{is_true, items, text};

/// The address of a node that has none of its own.
const ADDRESS: &str = "127.0.0.1";

/// What the kubelet says it is.
const VERSION: &str = "v1.36.3";

/// The status that makes a node ready; none when it is.
pub(super) fn ready(node: &Value, now: &str) -> Option<Value> {
    if is_true(node, "Ready") {
        return None;
    }
    let since = match text(node, "/metadata/creationTimestamp") {
        "" => now,
        time => time,
    };
    let condition = |(kind, status, reason, message): (&str, &str, &str, &str)| {
        json!({
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": since,
        })
    };
    let conditions: Vec<_> = CONDITIONS.into_iter().map(condition).collect();
    let room = |field: &str| {
        let given = node.pointer(&format!("/status/{field}"));
        let given = given.filter(|room| room.as_object().is_some_and(|room| !room.is_empty()));
        given
            .cloned()
            .unwrap_or_else(|| json!({"cpu": "1k", "memory": "1Ti", "pods": "1M"}))
    };
    Some(json!({
        "addresses": addresses(node),
        "allocatable": room("allocatable"),
        "capacity": room("capacity"),
        "conditions": conditions,
        // Nothing listens: logs and exec of such a node have nowhere to go.
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": info(node),
        "phase": "Running",
    }))
}

/// The address that Pods of the node report as their host's.
pub(super) fn host_address(node: &Value) -> &str {
    let mut addresses = items(node, "/status/addresses").iter();
    let internal = addresses.find(|one| text(one, "/type") == "InternalIP");
    internal.map_or(ADDRESS, |one| text(one, "/address"))
}

const CONDITIONS: [(&str, &str, &str, &str); 5] = [
    (
        "Ready",
        "True",
        "KubeletReady",
        "kubelet is posting ready status",
    ),
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    (
        "DiskPressure",
        "False",
        "KubeletHasNoDiskPressure",
        "kubelet has no disk pressure",
    ),
    (
        "PIDPressure",
        "False",
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
    ),
    (
        "NetworkUnavailable",
        "False",
        "RouteCreated",
        "RouteController created a route",
    ),
];

/// The addresses it has, and those of both types that it lacks.
fn addresses(node: &Value) -> Vec<Value> {
    let mut addresses = items(node, "/status/addresses").to_vec();
    for (kind, address) in [
        ("InternalIP", ADDRESS),
        ("Hostname", text(node, "/metadata/name")),
    ] {
        if !addresses.iter().any(|one| text(one, "/type") == kind) {
            addresses.push(json!({"type": kind, "address": address}));
        }
    }
    addresses
}

fn info(node: &Value) -> Value {
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
        "kubeletVersion": field("kubeletVersion", VERSION),
        "machineID": field("machineID", ""),
        "operatingSystem": field("operatingSystem", "linux"),
        "osImage": field("osImage", ""),
        "systemUUID": field("systemUUID", ""),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{host_address, ready};

    #[test]
    fn a_new_node_becomes_ready_once_and_keeps_its_room() {
        let node = json!({
            "metadata": {"name": "n1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"capacity": {"pods": "5"}},
        });
        let status = ready(&node, "2026-01-01T00:00:09Z").unwrap();
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
        let node = json!({"status": status});
        assert_eq!(host_address(&node), "127.0.0.1");
        assert_eq!(ready(&node, "2026-01-01T00:00:10Z"), None);
    }

    #[test]
    fn an_address_of_its_own_is_kept() {
        let address = json!({"type": "InternalIP", "address": "10.1.1.1"});
        let node = json!({"metadata": {"name": "n1"}, "status": {"addresses": [address]}});
        let status = ready(&node, "2026-01-01T00:00:09Z").unwrap();
        assert_eq!(
            status["addresses"],
            json!([address, {"type": "Hostname", "address": "n1"}])
        );
        assert_eq!(host_address(&node), "10.1.1.1");
    }
}
