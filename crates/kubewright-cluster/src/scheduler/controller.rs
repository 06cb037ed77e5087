//! The loop of the scheduler: which Pods a change may help, and the node of one Pod.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::filter::{NodeLoad, filter_node};
use super::filter_failure::{FilterFailure, unschedulable_message};
use super::labels::{NamespaceLabels, labels};
use super::node_facts::NodeFacts;
use super::placed_pod::PlacedPod;
use super::pod_requirements::PodRequirements;
use super::topology::{ClusterState, PodTopology};
use crate::framework::{
    Client, ControlLoop, NewEvent, ObjectChange, PODS, Step, WorkQueue, items, node_name,
    status_patch, text, with_condition,
};

/// Binds each Pod without a node, or reports why no node fits.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    nodes: BTreeMap<String, NodeFacts>,
    namespaces: NamespaceLabels,
    placed: BTreeMap<Key, PlacedPod>,
    /// The placed Pods with an anti-affinity.
    with_anti_affinity: BTreeSet<Key>,
    /// What the placed Pods of each node take up.
    loads: BTreeMap<String, NodeLoad>,
    /// Pods that fit no node. They are tried again when a node changes or resources are freed.
    unschedulable: BTreeSet<Key>,
    /// The unschedulable Pods that a new Pod, or other labels of a Pod, may help.
    waiting_for_pods: BTreeSet<Key>,
    queue: WorkQueue<Key>,
}

impl ControlLoop for Scheduler {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NODE) {
            self.observe_node(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        } else if change.key.is_of(&core::NAMESPACE) {
            self.observe_namespace(change);
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            Some(pod) if is_pending(pod.value()) => self.schedule(client, &key, &pod).await,
            _ => Ok(()),
        };
        self.queue.finish(key, result);
        Step::Worked
    }
}

impl Scheduler {
    fn observe_node(&mut self, change: &ObjectChange<'_>) {
        let name = change.key.name();
        let facts = change.after.map(|node| NodeFacts::read(node.value()));
        if self.nodes.get(name) == facts.as_ref() {
            return;
        }
        match facts {
            Some(facts) => self.nodes.insert(name.to_owned(), facts),
            None => self.nodes.remove(name),
        };
        self.requeue_unschedulable();
    }

    fn observe_namespace(&mut self, change: &ObjectChange<'_>) {
        let name = change.key.name();
        let labels = change.after.map(|namespace| labels(namespace.value()));
        if self.namespaces.get(name) == labels.as_ref() {
            return;
        }
        match labels {
            Some(labels) => self.namespaces.insert(name.to_owned(), labels),
            None => self.namespaces.remove(name),
        };
        self.requeue_waiting_for_pods();
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        let placed = change.after.and_then(|pod| PlacedPod::read(pod.value()));
        if placed
            .as_ref()
            .is_some_and(|pod| !pod.anti_affinity.is_empty())
        {
            self.with_anti_affinity.insert(change.key.clone());
        } else {
            self.with_anti_affinity.remove(change.key);
        }
        let before = match &placed {
            Some(placed) => self.placed.insert(change.key.clone(), placed.clone()),
            None => self.placed.remove(change.key),
        };
        if before != placed {
            self.update_loads(before, placed);
        }
        if change.after.is_some_and(|pod| is_pending(pod.value())) {
            // The condition of an unschedulable Pod is this scheduler's own write, and no reason
            // to try again.
            if !self.unschedulable.contains(change.key) || is_respecified(change) {
                self.queue.add(change.key.clone());
            }
        } else {
            self.unschedulable.remove(change.key);
            self.waiting_for_pods.remove(change.key);
        }
    }

    fn update_loads(&mut self, before: Option<PlacedPod>, after: Option<PlacedPod>) {
        if let Some(pod) = after {
            let load = self.loads.entry(pod.node).or_default();
            load.pods += 1;
            load.used.add(&pod.requests);
        }
        if let Some(pod) = before
            && let Some(load) = self.loads.get_mut(&pod.node)
        {
            load.pods = load.pods.saturating_sub(1);
            load.used.subtract(&pod.requests);
            self.requeue_unschedulable();
        }
        self.requeue_waiting_for_pods();
    }

    fn requeue_waiting_for_pods(&mut self) {
        for key in std::mem::take(&mut self.waiting_for_pods) {
            self.unschedulable.remove(&key);
            self.queue.add(key);
        }
    }

    fn requeue_unschedulable(&mut self) {
        self.waiting_for_pods.clear();
        for key in std::mem::take(&mut self.unschedulable) {
            self.queue.add(key);
        }
    }

    async fn schedule(&mut self, client: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let Some(requirements) = PodRequirements::read(pod.value()) else {
            return Ok(());
        };
        let failures = match self.choose_node(&requirements) {
            Ok(node) => return bind(client, pod, node).await,
            Err(failures) => failures,
        };
        let message = unschedulable_message(&failures);
        write_unschedulable(client, pod, &message).await?;
        let event = NewEvent::warning("FailedScheduling", message);
        client.record_event(&PODS, pod, event).await;
        self.unschedulable.insert(key.clone());
        if requirements.depends_on_other_pods()
            || failures.contains(&FilterFailure::ExistingAntiAffinity)
        {
            self.waiting_for_pods.insert(key.clone());
        }
        Ok(())
    }

    /// The fitting node with the fewest Pods, or why each node does not fit.
    fn choose_node(&self, pod: &PodRequirements) -> Result<&str, Vec<FilterFailure>> {
        let topology = self.topology(pod);
        let no_load = NodeLoad::default();
        let mut failures = Vec::new();
        let mut best: Option<(usize, &str)> = None;
        for (name, node) in &self.nodes {
            let load = self.loads.get(name).unwrap_or(&no_load);
            match filter_node(pod, node, load).or_else(|| topology.filter_node(node)) {
                Some(failure) => failures.push(failure),
                None if best.is_none_or(|(fewest, _)| load.pods < fewest) => {
                    best = Some((load.pods, name));
                }
                None => {}
            }
        }
        best.map(|(_, name)| name).ok_or(failures)
    }

    /// What the placed Pods mean for a Pod. For most Pods only those with an anti-affinity matter,
    /// and there are few.
    fn topology<'p>(&self, pod: &'p PodRequirements) -> PodTopology<'p> {
        let state = ClusterState {
            nodes: &self.nodes,
            namespaces: &self.namespaces,
        };
        if pod.depends_on_other_pods() {
            return PodTopology::new(pod, self.placed.values(), state);
        }
        let keys = self.with_anti_affinity.iter();
        PodTopology::new(pod, keys.filter_map(|key| self.placed.get(key)), state)
    }
}

/// Whether this scheduler has to bind the Pod.
fn is_pending(pod: &Value) -> bool {
    node_name(pod).is_empty()
        && matches!(text(pod, "/spec/schedulerName"), "" | "default-scheduler")
        && items(pod, "/spec/schedulingGates").is_empty()
        && pod.pointer("/metadata/deletionTimestamp").is_none()
}

/// Whether the spec of a Pod has changed.
fn is_respecified(change: &ObjectChange<'_>) -> bool {
    let spec = |object: &Object| object.value().get("spec").cloned();
    change.before.map(|pod| spec(pod)) != change.after.map(|pod| spec(pod))
}

async fn bind(client: &Client, pod: &Object, node: &str) -> Result<(), Status> {
    let binding = json!({
        "apiVersion": "v1",
        "kind": core::BINDING.kind,
        "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
        "target": {"kind": core::NODE.kind, "name": node},
    });
    client
        .create_subresource(&PODS, pod, "binding", binding)
        .await?;
    let message = format!(
        "Successfully assigned {}/{} to {node}",
        pod.namespace().unwrap_or_default(),
        pod.name()
    );
    let event = NewEvent::normal("Scheduled", message);
    client.record_event(&PODS, pod, event).await;
    Ok(())
}

async fn write_unschedulable(client: &Client, pod: &Object, message: &str) -> Result<(), Status> {
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "observedGeneration": pod.generation(),
        "lastProbeTime": null,
        "lastTransitionTime": client.timestamp(),
    });
    let Some(conditions) = with_condition(pod.value(), condition) else {
        return Ok(());
    };
    let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
    client.patch_status(&PODS, pod, patch).await
}
