//! The taint eviction controller: deletes Pods that do not tolerate a NoExecute taint of their
//! node.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::json;
use tokio::time::Instant;

use crate::framework::{
    Client, ControlLoop, DeleteOptions, NewEvent, ObjectChange, PODS, PodsByNode, Step, WorkQueue,
    node_name, status_patch, with_condition,
};
use crate::scheduler::{NodeFacts, PodRequirements};

/// Deletes Pods from tainted nodes: at once when they do not tolerate a NoExecute taint, else when
/// their `tolerationSeconds` have passed.
#[derive(Debug, Default)]
pub(crate) struct TaintEvictionController {
    pods: PodsByNode,
    /// When each Pod was first seen on a node with NoExecute taints.
    tainted_since: BTreeMap<Key, Instant>,
    queue: WorkQueue<Key>,
}

/// How long a Pod may stay on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    Forever,
    For(Duration),
}

impl ControlLoop for TaintEvictionController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NODE) {
            self.observe_node(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(pod) if !pod.is_terminating() => self.sync(client, &key, &pod).await,
            _ => Ok(()),
        };
        self.queue.finish_retrying_conflicts(key, result);
        Step::Worked
    }
}

impl TaintEvictionController {
    fn observe_node(&mut self, change: &ObjectChange<'_>) {
        let taints = |node: &Object| node.value().pointer("/spec/taints").cloned();
        let before = change.before.and_then(|node| taints(node));
        if change.after.and_then(|node| taints(node)) == before {
            return;
        }
        for pod in self.pods.on(change.key.name()) {
            self.queue.add(pod.clone());
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        if change.after.is_none() {
            self.tainted_since.remove(change.key);
        }
        if self.pods.observe(change) {
            self.queue.add(change.key.clone());
        }
    }

    async fn sync(&mut self, client: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let name = node_name(pod.value());
        let Some(node) = client.store().get(&Key::of(&core::NODE, None, name)) else {
            return Ok(());
        };
        let Some(requirements) = PodRequirements::read(pod.value()) else {
            return Ok(());
        };
        let stay = match stay(&requirements, &NodeFacts::read(node.value())) {
            Stay::Forever => {
                self.tainted_since.remove(key);
                return Ok(());
            }
            Stay::For(time) => time,
        };
        let since = *self
            .tainted_since
            .entry(key.clone())
            .or_insert_with(Instant::now);
        let end = since + stay;
        if Instant::now() < end {
            self.queue.reschedule(end, key.clone());
            return Ok(());
        }
        evict(client, pod).await
    }
}

/// How long a Pod may stay on a node: the shortest `tolerationSeconds` of the tolerations that
/// cover its taints.
fn stay(pod: &PodRequirements, node: &NodeFacts) -> Stay {
    let taints: Vec<_> = node
        .taints
        .iter()
        .filter(|taint| taint.effect == "NoExecute")
        .collect();
    let Some(tolerations) = pod.tolerations_of(&taints) else {
        return Stay::For(Duration::ZERO);
    };
    let limits = tolerations
        .iter()
        .filter_map(|toleration| toleration.seconds());
    match limits.min() {
        Some(seconds) => Stay::For(Duration::from_secs(seconds)),
        None => Stay::Forever,
    }
}

async fn evict(client: &Client, pod: &Object) -> Result<(), Status> {
    let namespace = pod.namespace().unwrap_or_default();
    let message = format!("Marking for deletion Pod {namespace}/{}", pod.name());
    let event = NewEvent::normal("TaintManagerEviction", message);
    client.record_event(&PODS, pod, event).await;
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "observedGeneration": pod.generation(),
        "lastProbeTime": null,
        "lastTransitionTime": client.timestamp(),
    });
    if let Some(conditions) = with_condition(pod.value(), condition) {
        let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
        client.patch_status(&PODS, pod, patch).await?;
    }
    let options = DeleteOptions {
        uid: pod.uid(),
        ..DeleteOptions::default()
    };
    client.delete(&PODS, pod, options).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{NodeFacts, PodRequirements, Stay, stay};

    fn stay_with(taints: Value, tolerations: Value) -> Stay {
        let pod = PodRequirements::read(&json!({"spec": {"tolerations": tolerations}})).unwrap();
        stay(&pod, &NodeFacts::read(&json!({"spec": {"taints": taints}})))
    }

    #[test]
    fn pod_stays_for_its_shortest_toleration() {
        let taints =
            json!([{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoExecute"}]);
        let tolerate = |key: &str, seconds: Value| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        let gone = Stay::For(Duration::ZERO);
        let five = Stay::For(Duration::from_secs(5));
        for (wanted, tolerations) in [
            (gone, json!([])),
            (gone, json!([tolerate("a", Value::Null)])),
            (Stay::Forever, json!([{"operator": "Exists"}])),
            (
                five,
                json!([tolerate("a", json!(5)), tolerate("b", json!(9))]),
            ),
            (
                gone,
                json!([tolerate("a", json!(-1)), tolerate("b", json!(9))]),
            ),
        ] {
            assert_eq!(
                stay_with(taints.clone(), tolerations.clone()),
                wanted,
                "{tolerations}"
            );
        }
        let cordon = json!([{"key": "a", "effect": "NoSchedule"}]);
        assert_eq!(stay_with(cordon, json!([])), Stay::Forever);
    }
}
