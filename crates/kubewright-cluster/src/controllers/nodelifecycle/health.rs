//! Nodes that send no heartbeat: their conditions become unknown, and their Pods not ready.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::{coordination, core};
use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::framework::{
    Client, ControlLoop, NODES, NewEvent, ObjectChange, PODS, PodsByNode, Step, WorkQueue,
    condition, status_patch, text, with_condition,
};
use crate::kubelet::LEASE_NAMESPACE;

/// How long a node may send no heartbeat before its status is unknown
/// (`--node-monitor-grace-period` of kube-controller-manager).
const GRACE_PERIOD: Duration = Duration::from_secs(50);

/// The conditions that the kubelet reports.
const KUBELET_CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// Monitors the heartbeats of nodes.
#[derive(Debug, Default)]
pub(super) struct NodeHealth {
    last_heartbeat: BTreeMap<String, Instant>,
    pods: PodsByNode,
    nodes: WorkQueue<String>,
}

impl ControlLoop for NodeHealth {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        let key = change.key;
        if key.is_of(&core::NODE) {
            self.observe_node(change);
        } else if key.is_of(&core::POD) {
            self.pods.observe(change);
        } else if key.is_of(&coordination::LEASE)
            && key.namespace() == Some(LEASE_NAMESPACE)
            && change.after.is_some()
            && let Some(heartbeat) = self.last_heartbeat.get_mut(key.name())
        {
            *heartbeat = Instant::now();
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(name) = self.nodes.pop() else {
            return self.nodes.idle();
        };
        let node = client.store().get(&Key::of(&core::NODE, None, &name));
        let (Some(node), Some(last)) = (node, self.last_heartbeat.get(&name)) else {
            return Step::Worked;
        };
        let deadline = *last + GRACE_PERIOD;
        if Instant::now() < deadline {
            self.nodes.reschedule(deadline, name);
            return Step::Worked;
        }
        let result = self.mark_unknown(client, &node).await;
        self.nodes.finish(name, result);
        Step::Worked
    }
}

impl NodeHealth {
    fn observe_node(&mut self, change: &ObjectChange<'_>) {
        let name = change.key.name();
        let Some(node) = change.after else {
            self.last_heartbeat.remove(name);
            return;
        };
        let heartbeat = |node: &Object| {
            let ready = condition(node.value(), "Ready");
            let time = ready.map(|ready| text(ready, "/lastHeartbeatTime").to_owned());
            time.unwrap_or_default()
        };
        let before = change.before.map(|node| heartbeat(node));
        if before.as_deref() != Some(heartbeat(node).as_str()) {
            let now = Instant::now();
            self.last_heartbeat.insert(name.to_owned(), now);
            self.nodes.reschedule(now + GRACE_PERIOD, name.to_owned());
        }
    }

    /// Sets the conditions of a node to unknown, and its Pods to not ready.
    async fn mark_unknown(&self, client: &Client, node: &Object) -> Result<(), Status> {
        let mut value = node.value().clone();
        let now = client.timestamp();
        for kind in KUBELET_CONDITIONS {
            if let Some(conditions) = with_condition(&value, unknown(&value, kind, &now)) {
                value["status"]["conditions"] = conditions.into();
            }
        }
        if value != *node.value() {
            let status = json!({"conditions": value["status"]["conditions"]});
            let patch = status_patch(node.value(), &status);
            client.patch_status(&NODES, node, patch).await?;
            let message = format!("Node {} status is now: NodeNotReady", node.name());
            let event = NewEvent::normal("NodeNotReady", message);
            client.record_event(&NODES, node, event).await;
        }
        for key in self.pods.on(node.name()) {
            let Some(pod) = client.store().get(key) else {
                continue;
            };
            mark_unready(client, &pod, &now).await?;
        }
        Ok(())
    }
}

async fn mark_unready(client: &Client, pod: &Object, now: &str) -> Result<(), Status> {
    let Some(ready) = condition(pod.value(), "Ready") else {
        return Ok(());
    };
    if text(ready, "/status") != "True" {
        return Ok(());
    }
    let mut unready = ready.clone();
    unready["status"] = "False".into();
    unready["lastTransitionTime"] = now.into();
    let Some(conditions) = with_condition(pod.value(), unready) else {
        return Ok(());
    };
    let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
    client.patch_status(&PODS, pod, patch).await?;
    let event = NewEvent::warning("NodeNotReady", "Node is not ready");
    client.record_event(&PODS, pod, event).await;
    Ok(())
}

/// The condition of a node without heartbeats (`tryUpdateNodeHealth` of
/// pkg/controller/nodelifecycle).
fn unknown(node: &Value, kind: &str, now: &str) -> Value {
    let old = condition(node, kind);
    // A condition that is unknown already keeps its times.
    if let Some(old) = old.filter(|old| text(old, "/status") == "Unknown") {
        return old.clone();
    }
    let (reason, message) = match old {
        Some(_) => ("NodeStatusUnknown", "Kubelet stopped posting node status."),
        None => (
            "NodeStatusNeverUpdated",
            "Kubelet never posted node status.",
        ),
    };
    let created = text(node, "/metadata/creationTimestamp");
    let heartbeat = old.map_or(created, |old| text(old, "/lastHeartbeatTime"));
    json!({
        "type": kind,
        "status": "Unknown",
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": heartbeat,
        "lastTransitionTime": now,
    })
}
