use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::client::NODES;
use super::view::{condition, items, text};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// Keeps the taints that say how a node is, as the node lifecycle controller does.
#[derive(Debug, Default)]
pub(super) struct NodeTaints {
    nodes: Work<Key>,
}

impl Controller for NodeTaints {
    fn observe(&mut self, event: &Event<'_>) {
        if event.key.resource() == "nodes" && event.now.is_some() {
            self.nodes.add(event.key.clone());
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.nodes.next() else {
            return self.nodes.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(node) => mark(cluster, &node).await,
            None => Ok(()),
        };
        self.nodes.settle(key, result);
        Step::Worked
    }
}

async fn mark(cluster: &Client, node: &Object) -> Result<(), Status> {
    let Some(taints) = taints(node.value(), &cluster.timestamp()) else {
        return Ok(());
    };
    let taints = if taints.is_empty() {
        Value::Null
    } else {
        taints.into()
    };
    let revision = text(node.value(), "/metadata/resourceVersion");
    let patch = json!({"metadata": {"resourceVersion": revision}, "spec": {"taints": taints}});
    cluster.patch(&NODES, node, patch).await
}

/// A taint that this controller sets and removes.
type Mark = (&'static str, &'static str);

const CORDON: Mark = ("node.kubernetes.io/unschedulable", "NoSchedule");
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";

/// What follows from a condition with a status.
const MARKS: [(&str, &str, Mark); 8] = [
    ("Ready", "False", (NOT_READY, "NoSchedule")),
    ("Ready", "False", (NOT_READY, "NoExecute")),
    ("Ready", "Unknown", (UNREACHABLE, "NoSchedule")),
    ("Ready", "Unknown", (UNREACHABLE, "NoExecute")),
    (
        "MemoryPressure",
        "True",
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ),
    (
        "DiskPressure",
        "True",
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ),
    (
        "PIDPressure",
        "True",
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ),
    (
        "NetworkUnavailable",
        "True",
        ("node.kubernetes.io/network-unavailable", "NoSchedule"),
    ),
];

/// The taints that the node should have; none when it has them.
fn taints(node: &Value, now: &str) -> Option<Vec<Value>> {
    let is_of = |taint: &Value, (key, effect): Mark| {
        text(taint, "/key") == key && text(taint, "/effect") == effect
    };
    let status = |kind: &str| condition(node, kind).map(|one| text(one, "/status"));
    let mut wanted: Vec<(Mark, bool)> = MARKS
        .iter()
        // What nobody has said yet is left as it is.
        .filter(|(kind, _, _)| status(kind).is_some())
        .map(|(kind, state, mark)| (*mark, status(kind) == Some(*state)))
        .collect();
    let is_cordoned = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    wanted.push((CORDON, is_cordoned));
    let old = items(node, "/spec/taints");
    let mut taints = old.to_vec();
    for (mark, should_be) in wanted {
        let is_there = taints.iter().any(|taint| is_of(taint, mark));
        match (is_there, should_be) {
            (true, false) => taints.retain(|taint| !is_of(taint, mark)),
            (false, true) => {
                let (key, effect) = mark;
                taints.push(json!({"key": key, "effect": effect, "timeAdded": now}));
            }
            _ => {}
        }
    }
    (taints != old).then_some(taints)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::taints;

    #[test]
    fn the_taint_follows_the_mark_and_others_stay() {
        let other = json!({"key": "k", "effect": "NoExecute"});
        let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "T"});
        let set = |is_unschedulable: bool, present: &[&serde_json::Value]| {
            taints(
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
        assert_eq!(taints(&json!({}), "T"), None);
    }

    #[test]
    fn a_node_is_tainted_by_what_is_said_of_it() {
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
            let found = taints(node, "T")?;
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
