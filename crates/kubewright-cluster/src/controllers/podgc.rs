//! The Pod garbage collector: deletes Pods whose node no longer exists.

use std::collections::BTreeSet;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::json;
use tokio::time::Instant;

use crate::framework::{
    Client, ControlLoop, DeleteOptions, ObjectChange, PODS, PodsByNode, Step, WorkQueue, has_ended,
    node_name, status_patch, with_condition,
};

/// How long a node is missing before its Pods are deleted (`quarantineTime` of
/// pkg/controller/podgc).
const QUARANTINE: Duration = Duration::from_secs(40);

/// Deletes the Pods of missing nodes, which no kubelet terminates.
#[derive(Debug, Default)]
pub(crate) struct PodGarbageCollector {
    nodes: BTreeSet<String>,
    pods: PodsByNode,
    /// Missing nodes, due at the end of their quarantine.
    missing: WorkQueue<String>,
    orphans: WorkQueue<Key>,
}

impl ControlLoop for PodGarbageCollector {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NODE) {
            self.observe_node(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        if let Some(node) = self.missing.pop() {
            if !self.nodes.contains(&node) {
                for pod in self.pods.on(&node) {
                    self.orphans.add(pod.clone());
                }
            }
            return Step::Worked;
        }
        let Some(key) = self.orphans.pop() else {
            return self.missing.idle().or(self.orphans.idle());
        };
        let result = match client.store().get(&key) {
            Some(pod) if !self.nodes.contains(node_name(pod.value())) => {
                fail_and_delete(client, &pod).await
            }
            _ => Ok(()),
        };
        self.orphans.finish(key, result);
        Step::Worked
    }
}

impl PodGarbageCollector {
    fn observe_node(&mut self, change: &ObjectChange<'_>) {
        let name = change.key.name();
        if change.after.is_some() {
            self.nodes.insert(name.to_owned());
        } else if self.nodes.remove(name) && self.pods.has_any(name) {
            self.quarantine(name);
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        let is_newly_bound = self.pods.observe(change);
        let Some(pod) = change.after else {
            return;
        };
        let node = node_name(pod.value());
        // At the start a Pod may be observed before its node. The quarantine is longer than that.
        if is_newly_bound && !self.nodes.contains(node) {
            self.quarantine(node);
        }
    }

    fn quarantine(&mut self, node: &str) {
        self.missing
            .add_at(Instant::now() + QUARANTINE, node.to_owned());
    }
}

/// Marks a Pod as failed, because no kubelet does, and deletes it.
async fn fail_and_delete(client: &Client, pod: &Object) -> Result<(), Status> {
    if !has_ended(pod.value()) {
        let condition = json!({
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByPodGC",
            "message": "PodGC: node no longer exists",
            "observedGeneration": pod.generation(),
            "lastProbeTime": null,
            "lastTransitionTime": client.timestamp(),
        });
        let mut status = json!({"phase": "Failed", "observedGeneration": pod.generation()});
        if let Some(conditions) = with_condition(pod.value(), condition) {
            status["conditions"] = conditions.into();
        }
        let patch = status_patch(pod.value(), &status);
        client.patch_status(&PODS, pod, patch).await?;
    }
    let options = DeleteOptions {
        uid: pod.uid(),
        grace_seconds: Some(0),
        propagation: None,
    };
    client.delete(&PODS, pod, options).await
}
