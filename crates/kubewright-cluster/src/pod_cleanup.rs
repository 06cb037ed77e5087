use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kubewright_wire::status::Status;
use serde_json::json;
use tokio::time::Instant;

use super::client::{Deletion, PODS};
use super::view::{status_patch, text, with_condition};
use super::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// How long a node may be missing before its Pods are given up
/// (`quarantineTime` of pkg/controller/podgc).
const QUARANTINE: Duration = Duration::from_secs(40);

/// Deletes the Pods of nodes that are gone, which no kubelet will ever end.
#[derive(Debug, Default)]
pub(super) struct PodCleanup {
    nodes: BTreeSet<String>,
    pods: BTreeMap<String, BTreeSet<Key>>,
    /// Nodes that are missing, at the end of their quarantine.
    missing: Work<String>,
    orphans: Work<Key>,
}

impl Controller for PodCleanup {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            "nodes" => self.observe_node(event),
            "pods" => self.observe_pod(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        if let Some(node) = self.missing.next() {
            if !self.nodes.contains(&node) {
                for pod in self.pods.get(&node).into_iter().flatten() {
                    self.orphans.add(pod.clone());
                }
            }
            return Step::Worked;
        }
        let Some(key) = self.orphans.next() else {
            return match (self.missing.idle(), self.orphans.idle()) {
                (Step::Idle(Some(one)), Step::Idle(Some(other))) => {
                    Step::Idle(Some(one.min(other)))
                }
                (Step::Idle(None), other) => other,
                (one, _) => one,
            };
        };
        let result = match cluster.store().get(&key) {
            Some(pod) if !self.nodes.contains(node_of(&pod)) => give_up(cluster, &pod).await,
            _ => Ok(()),
        };
        self.orphans.settle(key, result);
        Step::Worked
    }
}

impl PodCleanup {
    fn observe_node(&mut self, event: &Event<'_>) {
        let name = event.key.name();
        if event.now.is_some() {
            self.nodes.insert(name.to_owned());
        } else if self.nodes.remove(name) && self.pods.contains_key(name) {
            self.quarantine(name);
        }
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        let Some(pod) = event.now else {
            let node = event.before.map(|pod| node_of(pod)).unwrap_or_default();
            if let Some(pods) = self.pods.get_mut(node) {
                pods.remove(event.key);
                if pods.is_empty() {
                    self.pods.remove(node);
                }
            }
            return;
        };
        let node = node_of(pod);
        if node.is_empty() {
            return;
        }
        let is_new = self
            .pods
            .entry(node.to_owned())
            .or_default()
            .insert(event.key.clone());
        // At the start a Pod may be seen before its node; the quarantine outlasts that.
        if is_new && !self.nodes.contains(node) {
            self.quarantine(node);
        }
    }

    fn quarantine(&mut self, node: &str) {
        self.missing
            .add_at(Instant::now() + QUARANTINE, node.to_owned());
    }
}

/// Says that the Pod has failed, because nobody else will, and removes it.
async fn give_up(cluster: &Client, pod: &Object) -> Result<(), Status> {
    if !matches!(text(pod.value(), "/status/phase"), "Succeeded" | "Failed") {
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "observedGeneration": pod.generation(),
            "lastProbeTime": null,
            "lastTransitionTime": cluster.timestamp(),
        });
        let mut status = json!({"phase": "Failed", "observedGeneration": pod.generation()});
        if let Some(conditions) = with_condition(pod.value(), condition) {
            status["conditions"] = conditions.into();
        }
        let patch = status_patch(pod.value(), &status);
        cluster.patch_status(&PODS, pod, patch).await?;
    }
    let deletion = Deletion {
        uid: pod.uid(),
        grace_seconds: Some(0),
        propagation: None,
    };
    cluster.delete(&PODS, pod, deletion).await
}

fn node_of(pod: &Object) -> &str {
    text(pod.value(), "/spec/nodeName")
}
