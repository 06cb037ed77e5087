//! The plan for one set: which Pods to create and to delete. It follows from the observed state
//! alone, so that tests need no cluster.

use std::collections::BTreeMap;

use kubewright::prelude::*;
use kubewright::set_condition;

use crate::backoff::FailedPlace;
use crate::node::{Placement, placement};
use crate::observed::ObservedState;
use crate::roll_out::{NodePods, PodState, Strategy};
use crate::{MyDaemonSet, MyDaemonSetStatus, pod, status};

/// How many Pods one run creates at most, and how many it deletes (`BurstReplicas` of
/// pkg/controller/daemon).
const BURST_REPLICAS: usize = 250;

/// What one run of the reconciler does for a set.
#[derive(Debug, Default)]
pub struct Plan {
    /// The hash that Pods of the current spec are labelled with.
    revision: String,
    creations: Vec<Pod>,
    deletions: Vec<Deletion>,
    /// The time until the state changes without an event.
    next_run: Option<Duration>,
    /// The new status; none while the set is being deleted.
    status: Option<MyDaemonSetStatus>,
}

/// A Pod to delete, and the reason.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// The Pod.
    pub pod: Arc<Pod>,
    /// Why it is deleted.
    pub reason: DeletionReason,
}

/// Why a Pod is deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletionReason {
    /// Its node has another Pod, must not run one, or no longer exists.
    Unneeded,
    /// It runs a former spec of the set.
    Outdated,
    /// It has failed in this place.
    Failed(FailedPlace),
    /// It has succeeded, although a daemon should run forever.
    Succeeded,
}

impl Plan {
    /// Compares the nodes that should run a Pod of the set with the Pods that the set owns.
    pub fn new(observed: &ObservedState<'_>) -> Self {
        let mut plan = Self::default();
        if observed.set.metadata.deletion_timestamp.is_some() {
            return plan;
        }
        plan.revision = pod::revision(observed.set);
        let mut pods_by_node: BTreeMap<String, Vec<Arc<Pod>>> = BTreeMap::new();
        for pod in observed.pods.iter() {
            let node = pod::node_of(&pod).unwrap_or_default().to_owned();
            pods_by_node.entry(node).or_default().push(pod);
        }
        let mut status = MyDaemonSetStatus::default();
        let mut required = Vec::new();
        for node in observed.nodes.iter() {
            let name = node.name_any();
            let pods = pods_by_node.remove(&name).unwrap_or_default();
            let placement = placement(&node, observed.set);
            let active = active_in_order(&pods);
            status::count(&mut status, placement, &active, observed, &plan.revision);
            let kept = plan.plan_node(observed, &name, placement, &pods);
            required.extend((placement == Placement::Required).then_some(kept));
        }
        // Pods that ran on a removed node are deleted by Kubernetes itself (pkg/controller/podgc).
        let unscheduled = pods_by_node.into_values().flatten();
        for pod in unscheduled.filter(|pod| !pod::is_scheduled(pod)) {
            plan.delete(&pod, DeletionReason::Unneeded);
        }
        plan.roll_out(observed.set, &required);
        status.unavailable_replicas = status.desired_replicas - status.available_replicas;
        status.observed_generation = observed.set.metadata.generation.unwrap_or_default();
        plan.status = Some(status);
        plan
    }

    /// Returns the Pods to create.
    pub fn creations(&self) -> impl Iterator<Item = Pod> {
        self.creations.iter().take(BURST_REPLICAS).cloned()
    }

    /// Returns the Pods to delete.
    pub fn deletions(&self) -> impl Iterator<Item = Deletion> {
        self.deletions.iter().take(BURST_REPLICAS).cloned()
    }

    /// Requests the next run, where the state changes without an event.
    pub fn outcome(&self) -> Outcome {
        self.next_run
            .map_or(Outcome::done(), Outcome::requeue_after)
    }

    /// Sets counts and conditions of the status. Only a success counts as having observed the
    /// generation.
    pub fn report(&self, status: &mut MyDaemonSetStatus, result: &Result<()>) {
        let Some(new) = &self.status else { return };
        let mut conditions = std::mem::take(&mut status.conditions);
        set_condition(&mut conditions, status::available(new));
        set_condition(&mut conditions, status::progressing(new));
        let observed_generation = if result.is_ok() {
            new.observed_generation
        } else {
            status.observed_generation
        };
        *status = MyDaemonSetStatus {
            conditions,
            observed_generation,
            ..new.clone()
        };
    }

    /// Plans one node: creates a missing Pod, deletes ended and surplus ones, and returns the
    /// Pods that the node keeps.
    fn plan_node(
        &mut self,
        observed: &ObservedState<'_>,
        node: &str,
        placement: Placement,
        pods: &[Arc<Pod>],
    ) -> NodePods {
        let mut kept = NodePods {
            node: node.to_owned(),
            ..NodePods::default()
        };
        // A terminating Pod delays the next one: without surge both have the same name.
        if pods.is_empty() && placement == Placement::Required {
            self.creations.push(pod::for_node(observed.set, node));
        }
        for pod in active_in_order(pods) {
            match pod::phase(pod) {
                _ if placement == Placement::Forbidden => {
                    self.delete(pod, DeletionReason::Unneeded);
                }
                "Failed" => self.delete_after_backoff(pod, node, observed),
                "Succeeded" => self.delete(pod, DeletionReason::Succeeded),
                _ => self.keep_first(&mut kept, pod, observed),
            }
        }
        kept
    }

    /// Keeps the first Pod of a node, or with surge the first of each revision.
    fn keep_first(&mut self, kept: &mut NodePods, pod: &Arc<Pod>, observed: &ObservedState<'_>) {
        let allows_two = matches!(Strategy::of(observed.set, 1), Strategy::MaxSurge(_));
        let is_full = !allows_two && (kept.old.is_some() || kept.new.is_some());
        let slot = if pod::is_current(pod, &self.revision) {
            &mut kept.new
        } else {
            &mut kept.old
        };
        if is_full || slot.is_some() {
            self.delete(pod, DeletionReason::Unneeded);
            return;
        }
        let wait = observed.until_available(pod);
        *slot = Some(PodState {
            pod: Arc::clone(pod),
            is_available: wait.is_some_and(|wait| wait.is_zero()),
        });
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            // Times in Kubernetes are in whole seconds.
            self.run_again_after(wait + Duration::from_secs(1));
        }
    }

    fn roll_out(&mut self, set: &MyDaemonSet, nodes: &[NodePods]) {
        let steps = Strategy::of(set, nodes.len()).steps(nodes);
        let surge = steps.create_on.iter().map(|node| pod::for_node(set, node));
        self.creations.extend(surge);
        for pod in &steps.delete {
            self.delete(pod, DeletionReason::Outdated);
        }
    }

    fn delete_after_backoff(&mut self, pod: &Arc<Pod>, node: &str, observed: &ObservedState<'_>) {
        let place = FailedPlace::new(observed.set, node);
        let wait = observed.backoff.remaining(&place, observed.now);
        if wait.is_zero() {
            self.delete(pod, DeletionReason::Failed(place));
        } else {
            self.run_again_after(wait);
        }
    }

    fn delete(&mut self, pod: &Arc<Pod>, reason: DeletionReason) {
        if !pod::is_terminating(pod) {
            let pod = Arc::clone(pod);
            self.deletions.push(Deletion { pod, reason });
        }
    }

    fn run_again_after(&mut self, wait: Duration) {
        self.next_run = Some(self.next_run.map_or(wait, |next| next.min(wait)));
    }
}

/// The Pods that are not terminating: scheduled ones first, then the oldest, then by name.
fn active_in_order(pods: &[Arc<Pod>]) -> Vec<&Arc<Pod>> {
    let mut active: Vec<_> = pods
        .iter()
        .filter(|pod| !pod::is_terminating(pod))
        .collect();
    active.sort_by_key(|pod| {
        let is_unscheduled = !pod::is_scheduled(pod);
        (is_unscheduled, pod::created_at(pod), pod.name_any())
    });
    active
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
