use std::collections::{BTreeMap, BTreeSet};

use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::fit::{Load, Misfit, explain, misfit};
use super::neighbour::{Namespaces, Neighbour, labels};
use super::node_facts::NodeFacts;
use super::pod_needs::PodNeeds;
use super::surroundings::{Placed, Surroundings};
use crate::client::PODS;
use crate::events::Report;
use crate::view::{items, status_patch, text, with_condition};
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// Gives each Pod without a node the one that fits best, or says why there is none.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    nodes: BTreeMap<String, NodeFacts>,
    namespaces: Namespaces,
    /// The Pods that take up room.
    assigned: BTreeMap<Key, Neighbour>,
    /// Those of them that do not want others near.
    repelling: BTreeSet<Key>,
    /// What those on each node take up together.
    load: BTreeMap<String, Load>,
    /// Pods that fitted nowhere: looked at again when a node changes or room is made.
    unschedulable: BTreeSet<Key>,
    /// Those of them that one more Pod somewhere may help, or one with other labels.
    looking_around: BTreeSet<Key>,
    pods: Work<Key>,
}

impl Controller for Scheduler {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            "nodes" => self.observe_node(event),
            "pods" => self.observe_pod(event),
            "namespaces" => self.observe_namespace(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.pods.next() else {
            return self.pods.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(pod) if is_waiting(pod.value()) => self.place(cluster, &key, &pod).await,
            _ => Ok(()),
        };
        self.pods.settle(key, result);
        Step::Worked
    }
}

impl Scheduler {
    fn observe_node(&mut self, event: &Event<'_>) {
        let name = event.key.name();
        let facts = event.now.map(|node| NodeFacts::read(node.value()));
        if self.nodes.get(name) == facts.as_ref() {
            return;
        }
        match facts {
            Some(facts) => self.nodes.insert(name.to_owned(), facts),
            None => self.nodes.remove(name),
        };
        self.try_again();
    }

    fn observe_namespace(&mut self, event: &Event<'_>) {
        let name = event.key.name();
        let labels = event.now.map(|namespace| labels(namespace.value()));
        if self.namespaces.get(name) == labels.as_ref() {
            return;
        }
        match labels {
            Some(labels) => self.namespaces.insert(name.to_owned(), labels),
            None => self.namespaces.remove(name),
        };
        self.look_around_again();
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        let taken = event.now.and_then(|pod| Neighbour::read(pod.value()));
        match taken.as_ref().is_some_and(|pod| !pod.repels.is_empty()) {
            true => self.repelling.insert(event.key.clone()),
            false => self.repelling.remove(event.key),
        };
        let old = match &taken {
            Some(taken) => self.assigned.insert(event.key.clone(), taken.clone()),
            None => self.assigned.remove(event.key),
        };
        if old != taken {
            self.count(old, taken);
        }
        if event.now.is_some_and(|pod| is_waiting(pod.value())) {
            // The condition that tells of no fit is our own write: no reason to look again.
            if !self.unschedulable.contains(event.key) || is_respecified(event) {
                self.pods.add(event.key.clone());
            }
        } else {
            self.unschedulable.remove(event.key);
            self.looking_around.remove(event.key);
        }
    }

    fn count(&mut self, left: Option<Neighbour>, taken: Option<Neighbour>) {
        if let Some(taken) = taken {
            let load = self.load.entry(taken.node).or_default();
            load.pods += 1;
            load.used.add(&taken.amounts);
        }
        if let Some(left) = left
            && let Some(load) = self.load.get_mut(&left.node)
        {
            load.pods = load.pods.saturating_sub(1);
            load.used.subtract(&left.amounts);
            self.try_again();
        }
        self.look_around_again();
    }

    fn look_around_again(&mut self) {
        for key in std::mem::take(&mut self.looking_around) {
            self.unschedulable.remove(&key);
            self.pods.add(key);
        }
    }

    fn try_again(&mut self) {
        self.looking_around.clear();
        for key in std::mem::take(&mut self.unschedulable) {
            self.pods.add(key);
        }
    }

    async fn place(&mut self, cluster: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let Some(needs) = PodNeeds::read(pod.value()) else {
            return Ok(());
        };
        match self.choose(&needs) {
            Ok(node) => {
                let binding = json!({
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": pod.name(), "namespace": pod.namespace(), "uid": pod.uid()},
                    "target": {"kind": "Node", "name": node},
                });
                let message = format!(
                    "Successfully assigned {}/{} to {node}",
                    pod.namespace().unwrap_or_default(),
                    pod.name()
                );
                cluster.create_at(&PODS, pod, "binding", binding).await?;
                let report = Report::normal("Scheduled", message);
                cluster.report(&PODS, pod, report).await;
                Ok(())
            }
            Err(misfits) => {
                let message = explain(&misfits);
                report(cluster, pod, &message).await?;
                let event = Report::warning("FailedScheduling", message);
                cluster.report(&PODS, pod, event).await;
                self.unschedulable.insert(key.clone());
                if needs.looks_around() || misfits.contains(&Misfit::ExistingAntiAffinity) {
                    self.looking_around.insert(key.clone());
                }
                Ok(())
            }
        }
    }

    /// The node with the fewest Pods among those that fit, or why each does not.
    fn choose(&self, pod: &PodNeeds) -> Result<&str, Vec<Misfit>> {
        let around = self.around(pod);
        let none = Load::default();
        let mut misfits = Vec::new();
        let mut best: Option<(usize, &str)> = None;
        for (name, node) in &self.nodes {
            let load = self.load.get(name).unwrap_or(&none);
            match misfit(pod, node, load).or_else(|| around.misfit(pod, node)) {
                Some(misfit) => misfits.push(misfit),
                None if best.is_none_or(|(fewest, _)| load.pods < fewest) => {
                    best = Some((load.pods, name));
                }
                None => {}
            }
        }
        best.map(|(_, name)| name).ok_or(misfits)
    }

    /// What the Pods that are placed mean for this one. To most Pods only those matter that repel
    /// others, and there are few.
    fn around<'p>(&self, pod: &'p PodNeeds) -> Surroundings<'p> {
        let (nodes, namespaces) = (&self.nodes, &self.namespaces);
        if pod.looks_around() {
            let pods = self.assigned.values();
            return Surroundings::of(
                pod,
                Placed {
                    pods,
                    nodes,
                    namespaces,
                },
            );
        }
        let pods = self
            .repelling
            .iter()
            .filter_map(|key| self.assigned.get(key));
        Surroundings::of(
            pod,
            Placed {
                pods,
                nodes,
                namespaces,
            },
        )
    }
}

/// Whether the Pod is to be given a node by this scheduler.
fn is_waiting(pod: &Value) -> bool {
    text(pod, "/spec/nodeName").is_empty()
        && matches!(text(pod, "/spec/schedulerName"), "" | "default-scheduler")
        && items(pod, "/spec/schedulingGates").is_empty()
        && pod.pointer("/metadata/deletionTimestamp").is_none()
}

/// Whether what a Pod asks for may have changed.
fn is_respecified(event: &Event<'_>) -> bool {
    let spec = |object: &Object| object.value().get("spec").cloned();
    event.before.map(|pod| spec(pod)) != event.now.map(|pod| spec(pod))
}

async fn report(cluster: &Client, pod: &Object, message: &str) -> Result<(), Status> {
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": message,
        "observedGeneration": pod.generation(),
        "lastProbeTime": null,
        "lastTransitionTime": cluster.timestamp(),
    });
    let Some(conditions) = with_condition(pod.value(), condition) else {
        return Ok(());
    };
    let patch = status_patch(pod.value(), &json!({"conditions": conditions}));
    cluster.patch_status(&PODS, pod, patch).await
}
