//! The taints of nodes that follow from their conditions and from `spec.unschedulable`.

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::framework::{
    Client, ControlLoop, NODES, ObjectChange, Step, WorkQueue, condition, items, text,
};

/// Keeps the taints of each node.
#[derive(Debug, Default)]
pub(super) struct NodeTaints {
    nodes: WorkQueue<Key>,
}

impl ControlLoop for NodeTaints {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NODE) && change.after.is_some() {
            self.nodes.add(change.key.clone());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.nodes.pop() else {
            return self.nodes.idle();
        };
        let result = match client.store().get(&key) {
            Some(node) => sync_taints(client, &node).await,
            None => Ok(()),
        };
        self.nodes.finish(key, result);
        Step::Worked
    }
}

async fn sync_taints(client: &Client, node: &Object) -> Result<(), Status> {
    let Some(taints) = next_taints(node.value(), &client.timestamp()) else {
        return Ok(());
    };
    let field = if taints.is_empty() {
        Value::Null
    } else {
        taints.into()
    };
    let revision = text(node.value(), "/metadata/resourceVersion");
    let patch = json!({"metadata": {"resourceVersion": revision}, "spec": {"taints": field}});
    client.patch(&NODES, node, patch).await
}

/// A taint that this controller adds and removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ManagedTaint {
    key: &'static str,
    effect: &'static str,
}

impl ManagedTaint {
    const fn new(key: &'static str, effect: &'static str) -> Self {
        Self { key, effect }
    }

    fn is(self, taint: &Value) -> bool {
        text(taint, "/key") == self.key && text(taint, "/effect") == self.effect
    }
}

const UNSCHEDULABLE: ManagedTaint =
    ManagedTaint::new("node.kubernetes.io/unschedulable", "NoSchedule");
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const MEMORY_PRESSURE: &str = "node.kubernetes.io/memory-pressure";
const DISK_PRESSURE: &str = "node.kubernetes.io/disk-pressure";
const PID_PRESSURE: &str = "node.kubernetes.io/pid-pressure";
const NETWORK_UNAVAILABLE: &str = "node.kubernetes.io/network-unavailable";

/// The taint of a node whose condition has a status: condition, status, key and effect of the
/// taint (`nodeConditionToTaintKeyStatusMap` of pkg/controller/nodelifecycle).
const TAINTS_BY_CONDITION: [(&str, &str, ManagedTaint); 8] = [
    ("Ready", "False", ManagedTaint::new(NOT_READY, "NoSchedule")),
    ("Ready", "False", ManagedTaint::new(NOT_READY, "NoExecute")),
    (
        "Ready",
        "Unknown",
        ManagedTaint::new(UNREACHABLE, "NoSchedule"),
    ),
    (
        "Ready",
        "Unknown",
        ManagedTaint::new(UNREACHABLE, "NoExecute"),
    ),
    (
        "MemoryPressure",
        "True",
        ManagedTaint::new(MEMORY_PRESSURE, "NoSchedule"),
    ),
    (
        "DiskPressure",
        "True",
        ManagedTaint::new(DISK_PRESSURE, "NoSchedule"),
    ),
    (
        "PIDPressure",
        "True",
        ManagedTaint::new(PID_PRESSURE, "NoSchedule"),
    ),
    (
        "NetworkUnavailable",
        "True",
        ManagedTaint::new(NETWORK_UNAVAILABLE, "NoSchedule"),
    ),
];

/// The taints that the node should have; `None` when it has them already.
fn next_taints(node: &Value, now: &str) -> Option<Vec<Value>> {
    let status = |kind: &str| condition(node, kind).map(|condition| text(condition, "/status"));
    let mut wanted: Vec<(ManagedTaint, bool)> = TAINTS_BY_CONDITION
        .iter()
        // The taint of a condition that is not reported yet is left alone.
        .filter(|(kind, _, _)| status(kind).is_some())
        .map(|(kind, state, taint)| (*taint, status(kind) == Some(*state)))
        .collect();
    let is_unschedulable = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    wanted.push((UNSCHEDULABLE, is_unschedulable));
    let old = items(node, "/spec/taints");
    let mut taints = old.to_vec();
    for (managed, is_wanted) in wanted {
        let is_present = taints.iter().any(|taint| managed.is(taint));
        if is_present && !is_wanted {
            taints.retain(|taint| !managed.is(taint));
        } else if is_wanted && !is_present {
            let ManagedTaint { key, effect } = managed;
            taints.push(json!({"key": key, "effect": effect, "timeAdded": now}));
        }
    }
    (taints != old).then_some(taints)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::next_taints;

    #[test]
    fn unschedulable_node_is_tainted_and_other_taints_stay() {
        let other = json!({"key": "k", "effect": "NoExecute"});
        let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "T"});
        let set = |is_unschedulable: bool, present: &[&serde_json::Value]| {
            next_taints(
                &json!({"spec": {"unschedulable": is_unschedulable, "taints": present}}),
                "T",
            )
        };
        assert_eq!(
            set(true, &[&other]),
            Some(vec![other.clone(), cordon.clone()])
        );
        assert_eq!(set(true, &[&other, &cordon]), None);
        assert_eq!(set(false, &[&other, &cordon]), Some(vec![other.clone()]));
        assert_eq!(set(false, &[&other]), None);
        assert_eq!(next_taints(&json!({}), "T"), None);
    }

    #[test]
    fn node_is_tainted_by_its_conditions() {
        let node = |status: &str, present: &[&str]| {
            let taints: Vec<_> = present
                .iter()
                .map(|key| json!({"key": format!("node.kubernetes.io/{key}"), "effect": "NoSchedule"}))
                .collect();
            let node = json!({
                "spec": {"taints": taints},
                "status": {"conditions": [{"type": "Ready", "status": status}]},
            });
            let found = taints_of(&node)?;
            Some(found.join(" "))
        };
        fn taints_of(node: &serde_json::Value) -> Option<Vec<String>> {
            let found = next_taints(node, "T")?;
            let name = |taint: &serde_json::Value| {
                let key = taint["key"].as_str()?.split_once('/')?.1;
                Some(format!("{key}:{}", taint["effect"].as_str()?))
            };
            found.iter().map(name).collect()
        }
        assert_eq!(node("True", &[]), None);
        assert_eq!(node("True", &["not-ready"]).as_deref(), Some(""));
        assert_eq!(
            node("False", &["not-ready"]).as_deref(),
            Some("not-ready:NoSchedule not-ready:NoExecute")
        );
        assert_eq!(
            node("Unknown", &["not-ready"]).as_deref(),
            Some("unreachable:NoSchedule unreachable:NoExecute")
        );
    }
}
