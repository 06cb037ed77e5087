use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::cluster::NODES;
use super::view::{items, text};
use super::{Cluster, Controller, Event, Step, Work};
use crate::store::{Key, Object};

const CORDON: &str = "node.kubernetes.io/unschedulable";

/// Keeps the taint of a node that is marked unschedulable, as the node lifecycle controller does.
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

    async fn step(&mut self, cluster: &Cluster) -> Step {
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

async fn mark(cluster: &Cluster, node: &Object) -> Result<(), Status> {
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

/// The taints that the node should have; none when it has them.
fn taints(node: &Value, now: &str) -> Option<Vec<Value>> {
    let is_cordon =
        |taint: &Value| text(taint, "/key") == CORDON && text(taint, "/effect") == "NoSchedule";
    let taints = items(node, "/spec/taints");
    let is_marked = taints.iter().any(is_cordon);
    let should_be = node.pointer("/spec/unschedulable") == Some(&Value::Bool(true));
    if is_marked == should_be {
        return None;
    }
    let mut taints: Vec<_> = taints
        .iter()
        .filter(|taint| !is_cordon(taint))
        .cloned()
        .collect();
    if should_be {
        taints.push(json!({"key": CORDON, "effect": "NoSchedule", "timeAdded": now}));
    }
    Some(taints)
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
}
