use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kubewright_wire::status::Status;
use serde_json::json;
use tokio::time::Instant;

use super::client::{Deletion, PODS};
use super::events::Report;
use super::scheduler::{NodeFacts, PodNeeds};
use super::view::{status_patch, text, with_condition};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// Deletes Pods from nodes that no longer want them: those that do not tolerate a NoExecute taint
/// at once, the others when the time is up for which they tolerate it.
#[derive(Debug, Default)]
pub(super) struct TaintEviction {
    pods: BTreeMap<String, BTreeSet<Key>>,
    /// Since when each Pod is on a node with taints of that kind.
    since: BTreeMap<Key, Instant>,
    work: Work<Key>,
}

/// What becomes of a Pod on a tainted node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    Forever,
    For(Duration),
}

impl Controller for TaintEviction {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            "nodes" => {
                let taints = |node: &Object| node.value().pointer("/spec/taints").cloned();
                let before = event.before.and_then(|node| taints(node));
                if event.now.and_then(|node| taints(node)) != before {
                    for pod in self.pods.get(event.key.name()).into_iter().flatten() {
                        self.work.add(pod.clone());
                    }
                }
            }
            "pods" => self.observe_pod(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(pod) if !pod.is_terminating() => self.look_at(cluster, &key, &pod).await,
            _ => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

impl TaintEviction {
    fn observe_pod(&mut self, event: &Event<'_>) {
        let node = |pod: &Object| text(pod.value(), "/spec/nodeName").to_owned();
        let Some(pod) = event.now else {
            self.since.remove(event.key);
            let before = event.before.map(|pod| node(pod)).unwrap_or_default();
            if let Some(pods) = self.pods.get_mut(&before) {
                pods.remove(event.key);
            }
            return;
        };
        let name = node(pod);
        if !name.is_empty() && self.pods.entry(name).or_default().insert(event.key.clone()) {
            self.work.add(event.key.clone());
        }
    }

    async fn look_at(&mut self, cluster: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let name = text(pod.value(), "/spec/nodeName");
        let Some(node) = cluster.store().get(&Key::new("nodes", None, name)) else {
            return Ok(());
        };
        let Some(needs) = PodNeeds::read(pod.value()) else {
            return Ok(());
        };
        let stay = match stay(&needs, &NodeFacts::read(node.value())) {
            Stay::Forever => {
                self.since.remove(key);
                return Ok(());
            }
            Stay::For(time) => time,
        };
        let since = *self.since.entry(key.clone()).or_insert_with(Instant::now);
        let end = since + stay;
        if Instant::now() < end {
            self.work.put_off(end, key.clone());
            return Ok(());
        }
        evict(cluster, pod).await
    }
}

/// How long a Pod may stay on a node: for the shortest time that one of its tolerations gives.
fn stay(pod: &PodNeeds, node: &NodeFacts) -> Stay {
    let taints: Vec<_> = node
        .taints
        .iter()
        .filter(|taint| taint.effect == "NoExecute")
        .collect();
    let Some(tolerations) = pod.tolerations_of(&taints) else {
        return Stay::For(Duration::ZERO);
    };
    let limits = tolerations.iter().filter_map(|one| one.seconds());
    match limits.min() {
        Some(seconds) => Stay::For(Duration::from_secs(seconds)),
        None => Stay::Forever,
    }
}

async fn evict(cluster: &Client, pod: &Object) -> Result<(), Status> {
    let namespace = pod.namespace().unwrap_or_default();
    let message = format!("Marking for deletion Pod {namespace}/{}", pod.name());
    let report = Report::normal("TaintManagerEviction", message);
    cluster.report(&PODS, pod, report).await;
    let condition = json!({
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "observedGeneration": pod.generation(),
        "lastProbeTime": null,
        "lastTransitionTime": cluster.timestamp(),
    });
    if let Some(conditions) = with_condition(pod.value(), condition) {
        let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
        cluster.patch_status(&PODS, pod, patch).await?;
    }
    let deletion = Deletion {
        uid: pod.uid(),
        ..Deletion::default()
    };
    cluster.delete(&PODS, pod, deletion).await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{NodeFacts, PodNeeds, Stay, stay};

    fn judge(taints: Value, tolerations: Value) -> Stay {
        let pod = PodNeeds::read(&json!({"spec": {"tolerations": tolerations}})).unwrap();
        stay(&pod, &NodeFacts::read(&json!({"spec": {"taints": taints}})))
    }

    #[test]
    fn a_pod_stays_as_long_as_all_its_tolerations_let_it() {
        let taints =
            json!([{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoExecute"}]);
        let bear = |key: &str, seconds: Value| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        let gone = Stay::For(Duration::ZERO);
        let five = Stay::For(Duration::from_secs(5));
        for (wanted, tolerations) in [
            (gone, json!([])),
            (gone, json!([bear("a", Value::Null)])),
            (Stay::Forever, json!([{"operator": "Exists"}])),
            (five, json!([bear("a", json!(5)), bear("b", json!(9))])),
            (gone, json!([bear("a", json!(-1)), bear("b", json!(9))])),
        ] {
            assert_eq!(
                judge(taints.clone(), tolerations.clone()),
                wanted,
                "{tolerations}"
            );
        }
        let cordon = json!([{"key": "a", "effect": "NoSchedule"}]);
        assert_eq!(judge(cordon, json!([])), Stay::Forever);
    }
}
