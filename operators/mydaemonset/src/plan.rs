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
mod tests {
    use k8s_openapi::api::core::v1::Node;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kubewright::prelude::*;
    use serde_json::json;

    use super::{DeletionReason, Plan};
    use crate::backoff::{FailedPlace, FailedPodsBackoff};
    use crate::observed::ObservedState;
    use crate::{MyDaemonSet, MyDaemonSetSpec, MyDaemonSetStatus, pod};

    const NOW: &str = "2026-01-01T00:01:00Z";

    fn set(image: &str) -> MyDaemonSet {
        let spec = MyDaemonSetSpec {
            image: image.to_owned(),
            ..MyDaemonSetSpec::default()
        };
        let mut set = MyDaemonSet::new("web", spec);
        set.metadata.namespace = Some("shop".to_owned());
        set.metadata.generation = Some(7);
        set.metadata.uid = Some("1".to_owned());
        set
    }

    fn node(name: &str) -> Node {
        let mut node = Node::default();
        node.metadata.name = Some(name.to_owned());
        node
    }

    fn tainted(name: &str, effect: &str) -> Node {
        let spec = json!({"taints": [{"key": "gpu", "effect": effect}]});
        Node {
            spec: serde_json::from_value(spec).unwrap(),
            ..node(name)
        }
    }

    /// A Pod on its node, in this phase, ready where it runs.
    fn pod(set: &MyDaemonSet, node: &str, phase: &str) -> Pod {
        let ready = if phase == "Running" { "True" } else { "False" };
        let mut pod = pod::for_node(set, node);
        pod.spec.as_mut().unwrap().node_name = Some(node.to_owned());
        pod.metadata.creation_timestamp = Some(Time("2026-01-01T00:00:00Z".parse().unwrap()));
        pod.status = serde_json::from_value(json!({"phase": phase, "conditions": [
            {"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:00:50Z"},
        ]}))
        .unwrap();
        pod
    }

    fn plan(set: &MyDaemonSet, nodes: &[Node], pods: &[Pod]) -> Plan {
        plan_with(&FailedPodsBackoff::default(), set, nodes, pods)
    }

    fn plan_with(
        backoff: &FailedPodsBackoff,
        set: &MyDaemonSet,
        nodes: &[Node],
        pods: &[Pod],
    ) -> Plan {
        Plan::new(&ObservedState {
            set,
            nodes: &nodes.iter().cloned().collect(),
            pods: &pods.iter().cloned().collect(),
            backoff,
            now: NOW.parse().unwrap(),
        })
    }

    /// How many Pods are created, and which are deleted and why.
    fn work(plan: &Plan) -> (usize, Vec<(String, DeletionReason)>) {
        let deletions = plan
            .deletions()
            .map(|deletion| (deletion.pod.name_any(), deletion.reason));
        (plan.creations().count(), deletions.collect())
    }

    #[test]
    fn node_without_a_pod_gets_one_pinned_to_it() {
        let set = set("v1");
        let plan = plan(&set, &[node("a"), node("b")], &[pod(&set, "a", "Running")]);
        let created: Vec<Pod> = plan.creations().collect();
        assert_eq!(created.len(), 1);
        assert_eq!(pod::node_of(&created[0]), Some("b"));
        assert_eq!(created[0].metadata.namespace.as_deref(), Some("shop"));
        assert_eq!(plan.deletions().count(), 0);
    }

    #[test]
    fn unscheduled_pod_of_a_removed_node_is_deleted() {
        let set = set("v1");
        let ran = pod(&set, "gone", "Running");
        let mut unscheduled = pod(&set, "lost", "Pending");
        unscheduled.spec.as_mut().unwrap().node_name = None;
        let deletion = (unscheduled.name_any(), DeletionReason::Unneeded);
        let plan = plan(&set, &[], &[ran, unscheduled]);
        assert_eq!(work(&plan), (0, vec![deletion]));
    }

    #[test]
    fn node_keeps_its_scheduled_or_else_oldest_pod() {
        let set = set("v1");
        let mut others = [pod(&set, "a", "Running"), pod(&set, "a", "Pending")];
        others[0].metadata.name = Some("young".to_owned());
        others[0].metadata.creation_timestamp = Some(Time(NOW.parse().unwrap()));
        others[1].metadata.name = Some("waiting".to_owned());
        others[1].spec.as_mut().unwrap().node_name = None;
        let [young, waiting] = others;
        let pods = [waiting, young, pod(&set, "a", "Running")];
        let expected = ["young", "waiting"].map(|name| (name.to_owned(), DeletionReason::Unneeded));
        assert_eq!(work(&plan(&set, &[node("a")], &pods)), (0, expected.into()));
    }

    #[test]
    fn no_schedule_taint_keeps_pods_and_no_execute_taint_deletes_them() {
        let set = set("v1");
        let pods = [pod(&set, "a", "Running")];
        let no_schedule = [tainted("a", "NoSchedule"), tainted("b", "NoSchedule")];
        assert_eq!(work(&plan(&set, &no_schedule, &pods)), (0, vec![]));
        let no_execute = plan(&set, &[tainted("a", "NoExecute")], &pods);
        assert_eq!(no_execute.deletions().count(), 1);
    }

    #[test]
    fn no_pod_is_created_while_the_last_one_is_terminating() {
        let set = set("v1");
        let mut terminating = pod(&set, "a", "Running");
        terminating.metadata.deletion_timestamp = Some(Time(NOW.parse().unwrap()));
        let plan = plan(&set, &[node("a")], &[terminating]);
        assert_eq!(work(&plan), (0, vec![]));
    }

    #[test]
    fn terminating_set_is_left_unchanged() {
        let mut set = set("v1");
        let pods = [pod(&set, "a", "Running")];
        set.metadata.deletion_timestamp = Some(Time(NOW.parse().unwrap()));
        let plan = plan(&set, &[node("b")], &pods);
        assert_eq!(work(&plan), (0, vec![]));
        let mut status = MyDaemonSetStatus::default();
        plan.report(&mut status, &Ok(()));
        assert_eq!(status, MyDaemonSetStatus::default());
    }

    #[test]
    fn failed_pod_is_replaced_at_once_the_first_time_and_after_a_backoff_then() {
        let set = set("v1");
        let pods = [pod(&set, "a", "Failed"), pod(&set, "b", "Succeeded")];
        let nodes = [node("a"), node("b")];
        let (first, second) = (pods[0].name_any(), pods[1].name_any());
        let place = FailedPlace::new(&set, "a");
        let failed = (first, DeletionReason::Failed(place.clone()));
        let succeeded = (second, DeletionReason::Succeeded);
        let expected = (0, vec![failed, succeeded.clone()]);
        assert_eq!(work(&plan(&set, &nodes, &pods)), expected);
        let mut backoff = FailedPodsBackoff::default();
        backoff.record(place, NOW.parse().unwrap());
        let again = plan_with(&backoff, &set, &nodes, &pods);
        assert_eq!(work(&again), (0, vec![succeeded]));
        assert_eq!(again.outcome().next_run(), Some(Duration::from_secs(1)));
    }

    #[test]
    fn ready_pod_is_available_after_min_ready_seconds() {
        let mut set = set("v2");
        set.spec.min_ready_seconds = 15;
        let nodes = [node("a"), node("b")];
        let pods = [
            pod(&set, "a", "Running"),
            pod(&self::set("v1"), "b", "Running"),
        ];
        let plan = plan(&set, &nodes, &pods);
        // Ready for 10 s of 15 s: 5 s remain, and one for rounding. Neither is available, so that
        // the old one may be deleted.
        assert_eq!(plan.outcome().next_run(), Some(Duration::from_secs(6)));
        let mut status = MyDaemonSetStatus::default();
        plan.report(&mut status, &Ok(()));
        assert_eq!((status.ready_replicas, status.available_replicas), (2, 0));
    }

    #[test]
    fn one_run_creates_at_most_250_pods() {
        let nodes: Vec<Node> = (0..300).map(|number| node(&number.to_string())).collect();
        assert_eq!(plan(&set("v1"), &nodes, &[]).creations().count(), 250);
    }

    #[test]
    fn generation_is_observed_only_after_a_success() {
        let plan = plan(&set("v1"), &[node("a")], &[]);
        let mut status = MyDaemonSetStatus {
            observed_generation: 6,
            ..MyDaemonSetStatus::default()
        };
        plan.report(&mut status, &Err("quota".into()));
        assert_eq!(
            (status.observed_generation, status.desired_replicas),
            (6, 1)
        );
        plan.report(&mut status, &Ok(()));
        assert_eq!(status.observed_generation, 7);
    }
}
