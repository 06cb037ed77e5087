use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::client::{NODES, PODS};
use super::events::Report;
use super::kubelet::LEASE_NAMESPACE;
use super::view::{condition, items, status_patch, text, with_condition};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// How long a node may be silent before nobody knows how it is
/// (`--node-monitor-grace-period` of the controller manager).
const GRACE: Duration = Duration::from_secs(50);

/// The conditions that only a kubelet knows.
const CONDITIONS: [&str; 4] = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/// Notices nodes that have fallen silent, and says that their Pods are not ready, as the node
/// lifecycle controller does.
#[derive(Debug, Default)]
pub(super) struct NodeHealth {
    /// When each node was last heard of.
    heard: BTreeMap<String, Instant>,
    pods: BTreeMap<String, BTreeSet<Key>>,
    nodes: Work<String>,
}

impl Controller for NodeHealth {
    fn observe(&mut self, event: &Event<'_>) {
        match (event.key.resource(), event.key.namespace()) {
            ("nodes", _) => self.observe_node(event),
            ("leases.coordination.k8s.io", Some(LEASE_NAMESPACE)) => {
                let name = event.key.name();
                if event.now.is_some() && self.heard.contains_key(name) {
                    self.heard.insert(name.to_owned(), Instant::now());
                }
            }
            ("pods", _) => self.observe_pod(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(name) = self.nodes.next() else {
            return self.nodes.idle();
        };
        let node = cluster.store().get(&Key::new("nodes", None, &name));
        let (Some(node), Some(heard)) = (node, self.heard.get(&name)) else {
            return Step::Worked;
        };
        let due = *heard + GRACE;
        if Instant::now() < due {
            self.nodes.put_off(due, name);
            return Step::Worked;
        }
        let result = self.give_up(cluster, &node).await;
        self.nodes.settle(name, result);
        Step::Worked
    }
}

impl NodeHealth {
    fn observe_node(&mut self, event: &Event<'_>) {
        let name = event.key.name();
        let Some(node) = event.now else {
            self.heard.remove(name);
            return;
        };
        let heartbeat = |node: &Object| {
            let ready = condition(node.value(), "Ready");
            let time = ready.map(|ready| text(ready, "/lastHeartbeatTime").to_owned());
            time.unwrap_or_default()
        };
        let before = event.before.map(|node| heartbeat(node));
        if before.as_deref() != Some(heartbeat(node).as_str()) {
            self.heard.insert(name.to_owned(), Instant::now());
            self.nodes.put_off(Instant::now() + GRACE, name.to_owned());
        }
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        let node = |pod: &Object| text(pod.value(), "/spec/nodeName").to_owned();
        if let (None, Some(before)) = (event.now, event.before)
            && let Some(pods) = self.pods.get_mut(&node(before))
        {
            pods.remove(event.key);
        }
        if let Some(name) = event.now.map(|pod| node(pod)).filter(|one| !one.is_empty()) {
            self.pods.entry(name).or_default().insert(event.key.clone());
        }
    }

    /// Nobody knows how the node is; its Pods are taken for not ready.
    async fn give_up(&self, cluster: &Client, node: &Object) -> Result<(), Status> {
        let mut value = node.value().clone();
        let now = cluster.timestamp();
        for kind in CONDITIONS {
            if let Some(conditions) = with_condition(&value, unknown(&value, kind, &now)) {
                value["status"]["conditions"] = conditions.into();
            }
        }
        if value != *node.value() {
            let status = json!({"conditions": value["status"]["conditions"]});
            let patch = status_patch(node.value(), &status);
            cluster.patch_status(&NODES, node, patch).await?;
            let report = Report::normal("NodeNotReady", "");
            let message = format!("Node {} status is now: NodeNotReady", node.name());
            cluster.report(&NODES, node, report.saying(message)).await;
        }
        for key in self.pods.get(node.name()).into_iter().flatten() {
            let Some(pod) = cluster.store().get(key) else {
                continue;
            };
            mark_unready(cluster, &pod, &now).await?;
        }
        Ok(())
    }
}

async fn mark_unready(cluster: &Client, pod: &Object, now: &str) -> Result<(), Status> {
    let Some(ready) = condition(pod.value(), "Ready") else {
        return Ok(());
    };
    if text(ready, "/status") != "True" {
        return Ok(());
    }
    let mut new = ready.clone();
    new["status"] = "False".into();
    new["lastTransitionTime"] = now.into();
    let Some(conditions) = with_condition(pod.value(), new) else {
        return Ok(());
    };
    let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
    cluster.patch_status(&PODS, pod, patch).await?;
    let report = Report::warning("NodeNotReady", "Node is not ready");
    cluster.report(&PODS, pod, report).await;
    Ok(())
}

/// What is said of a node that says nothing.
fn unknown(node: &Value, kind: &str, now: &str) -> Value {
    let old = items(node, "/status/conditions")
        .iter()
        .find(|one| text(one, "/type") == kind);
    let (reason, message) = match old {
        Some(_) => ("NodeStatusUnknown", "Kubelet stopped posting node status."),
        None => (
            "NodeStatusNeverUpdated",
            "Kubelet never posted node status.",
        ),
    };
    let created = text(node, "/metadata/creationTimestamp");
    let heartbeat = old.map_or(created, |old| text(old, "/lastHeartbeatTime"));
    let mut new = json!({
        "type": kind,
        "status": "Unknown",
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": heartbeat,
        "lastTransitionTime": now,
    });
    // Once it is said, it is said.
    if let Some(old) = old.filter(|old| text(old, "/status") == "Unknown") {
        new = old.clone();
    }
    new
}
