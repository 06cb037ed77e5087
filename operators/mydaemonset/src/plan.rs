//! What is to be done for one set: a plain function of what there is.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;
use kubewright::{List, set_condition};

use crate::failed::FailedPods;
use crate::node::{Role, role_of};
use crate::roll_out::{Occupant, Seat, Strategy};
use crate::{MyDaemonSet, MyDaemonSetStatus, pod, status};

/// How many Pods are made, and how many deleted, in one run.
const MOST_AT_ONCE: usize = 250;

/// What there is.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The set.
    pub set: &'a MyDaemonSet,
    /// All nodes.
    pub nodes: &'a List<Node>,
    /// The set's Pods.
    pub pods: &'a List<Pod>,
    /// Where Pods have failed before.
    pub failed: &'a FailedPods,
    /// The time.
    pub now: Timestamp,
}

/// What is missing, what is too much, and how things stand.
#[derive(Debug, Default)]
pub struct Plan {
    /// What the Pods of the present spec are told by.
    revision: String,
    missing: Vec<Pod>,
    surplus: Vec<Surplus>,
    /// When something changes without an event.
    next: Option<Duration>,
    /// How things stand; none while the set is being deleted.
    status: Option<MyDaemonSetStatus>,
}

/// A Pod that is too much, and why.
#[derive(Clone, Debug)]
pub struct Surplus {
    /// The Pod.
    pub pod: Arc<Pod>,
    /// Why it goes.
    pub why: Why,
}

/// Why a Pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its node has another, or must not run it, or is gone.
    Unwanted,
    /// The set says something else by now.
    Outdated,
    /// It has failed.
    Failed,
    /// It has ended, which a Pod of a set should not.
    Succeeded,
}

impl Plan {
    /// Compares the nodes that should run a Pod of the set with the Pods that it owns.
    pub fn new(situation: &Situation<'_>) -> Self {
        let mut plan = Self::default();
        if situation.set.metadata.deletion_timestamp.is_some() {
            return plan;
        }
        plan.revision = pod::revision(situation.set);
        let mut pods: BTreeMap<String, Vec<Arc<Pod>>> = BTreeMap::new();
        for pod in situation.pods.iter() {
            let node = pod::node_of(&pod).unwrap_or_default().to_owned();
            pods.entry(node).or_default().push(pod);
        }
        let mut status = MyDaemonSetStatus::default();
        let mut seats = Vec::new();
        for node in situation.nodes.iter() {
            let name = node.name_any();
            let present = pods.remove(&name).unwrap_or_default();
            let role = role_of(&node, situation.set);
            let staying = in_order(&present);
            status::count(&mut status, role, &staying, situation, &plan.revision);
            let seat = plan.tend(situation, &name, role, &present);
            seats.extend((role == Role::Runs).then_some(seat));
        }
        // Of the Pods whose node is gone, Kubernetes itself deletes those that ran there.
        let homeless = pods.into_values().flatten();
        let homeless = homeless.filter(|pod| !pod::is_scheduled(pod));
        homeless.for_each(|pod| plan.discard(&pod, Why::Unwanted));
        plan.roll_out(situation.set, &seats);
        status.unavailable_replicas = status.desired_replicas - status.available_replicas;
        status.observed_generation = situation.set.metadata.generation.unwrap_or_default();
        plan.status = Some(status);
        plan
    }

    /// The Pods to make.
    pub fn missing(&self) -> impl Iterator<Item = Pod> {
        self.missing.iter().take(MOST_AT_ONCE).cloned()
    }

    /// The Pods to delete.
    pub fn surplus(&self) -> impl Iterator<Item = Surplus> {
        self.surplus.iter().take(MOST_AT_ONCE).cloned()
    }

    /// When to look again without a change.
    pub fn outcome(&self) -> Outcome {
        self.next.map_or(Outcome::done(), Outcome::requeue_after)
    }

    /// Writes down how things stand, and whether the plan was carried out.
    pub fn report(&self, status: &mut MyDaemonSetStatus, is_done: bool) {
        let Some(now) = &self.status else { return };
        let mut conditions = std::mem::take(&mut status.conditions);
        set_condition(&mut conditions, status::available(now));
        set_condition(&mut conditions, status::progressing(now));
        let observed_generation = match is_done {
            true => now.observed_generation,
            false => status.observed_generation,
        };
        *status = MyDaemonSetStatus {
            conditions,
            observed_generation,
            ..now.clone()
        };
    }

    /// Sees to one node: a Pod that is missing, those that have ended, those that are too many.
    fn tend(
        &mut self,
        situation: &Situation<'_>,
        node: &str,
        role: Role,
        present: &[Arc<Pod>],
    ) -> Seat {
        let mut seat = Seat {
            node: node.to_owned(),
            ..Seat::default()
        };
        // A Pod that is going keeps the place of the next one until it is gone.
        if present.is_empty() && role == Role::Runs {
            self.missing.push(pod::for_node(situation.set, node));
        }
        for pod in in_order(present) {
            match pod::phase(pod) {
                _ if role == Role::Shuns => self.discard(pod, Why::Unwanted),
                "Failed" => self.retire(pod, node, situation),
                "Succeeded" => self.discard(pod, Why::Succeeded),
                _ => self.take_seat(&mut seat, pod, situation),
            }
        }
        seat
    }

    /// The first Pod keeps its seat: one for each node, or with surge one of each revision.
    fn take_seat(&mut self, seat: &mut Seat, pod: &Arc<Pod>, situation: &Situation<'_>) {
        let set = situation.set;
        let is_current = pod::is_current(pod, &self.revision);
        let is_alone = !matches!(Strategy::of(set, 1), Strategy::Surge(_));
        let is_taken = match is_current {
            _ if is_alone => seat.old.is_some() || seat.new.is_some(),
            true => seat.new.is_some(),
            false => seat.old.is_some(),
        };
        if is_taken {
            self.discard(pod, Why::Unwanted);
            return;
        }
        let rest = until_available(pod, situation);
        if let Some(rest) = rest.filter(|rest| !rest.is_zero()) {
            self.look_again(rest + Duration::from_secs(1));
        }
        let occupant = Some(Occupant {
            pod: Arc::clone(pod),
            is_available: rest.is_some_and(|rest| rest.is_zero()),
        });
        match is_current {
            true => seat.new = occupant,
            false => seat.old = occupant,
        }
    }

    fn roll_out(&mut self, set: &MyDaemonSet, seats: &[Seat]) {
        let steps = Strategy::of(set, seats.len()).steps(seats);
        let started = steps.start.iter().map(|node| pod::for_node(set, node));
        self.missing.extend(started);
        for pod in &steps.stop {
            self.discard(pod, Why::Outdated);
        }
    }

    /// A Pod that has failed goes at once where that is new, and later each time.
    fn retire(&mut self, pod: &Arc<Pod>, node: &str, situation: &Situation<'_>) {
        let place = place(situation.set, node);
        let rest = situation.failed.wait(&place, situation.now);
        match rest.is_zero() {
            true => self.discard(pod, Why::Failed),
            false => self.look_again(rest),
        }
    }

    fn discard(&mut self, pod: &Arc<Pod>, why: Why) {
        if !pod::is_terminating(pod) {
            let pod = Arc::clone(pod);
            self.surplus.push(Surplus { pod, why });
        }
    }

    fn look_again(&mut self, after: Duration) {
        self.next = Some(self.next.map_or(after, |next| next.min(after)));
    }
}

/// Where a Pod of the set has failed.
pub(crate) fn place(set: &MyDaemonSet, node: &str) -> (String, i64, String) {
    let generation = set.metadata.generation.unwrap_or_default();
    (set.uid().unwrap_or_default(), generation, node.to_owned())
}

/// The Pods that are not on their way out: scheduled ones first, then the oldest, then by name.
fn in_order(pods: &[Arc<Pod>]) -> Vec<&Arc<Pod>> {
    let staying = pods.iter().filter(|pod| !pod::is_terminating(pod));
    let mut staying: Vec<_> = staying.collect();
    staying.sort_by_key(|pod| (!pod::is_scheduled(pod), made(pod), pod.name_any()));
    staying
}

pub(crate) fn made(pod: &Pod) -> Option<Timestamp> {
    pod.creation_timestamp().map(|made| made.0)
}

/// How long until the Pod counts as available; none while it is not ready.
pub(crate) fn until_available(pod: &Pod, situation: &Situation<'_>) -> Option<Duration> {
    let ready = situation.now.duration_since(pod::ready_since(pod)?);
    let ready = Duration::try_from(ready).unwrap_or_default();
    let wanted = Duration::from_secs(situation.set.spec.min_ready_seconds.into());
    Some(wanted.saturating_sub(ready))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Node;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use kubewright::prelude::*;
    use serde_json::json;

    use super::{FailedPods, Plan, Situation, Why, place};
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
        plan_with(set, nodes, pods, &FailedPods::default())
    }

    fn plan_with(set: &MyDaemonSet, nodes: &[Node], pods: &[Pod], failed: &FailedPods) -> Plan {
        Plan::new(&Situation {
            set,
            nodes: &nodes.iter().cloned().collect(),
            pods: &pods.iter().cloned().collect(),
            failed,
            now: NOW.parse().unwrap(),
        })
    }

    /// How many Pods are missing, and which are surplus and why.
    fn work(plan: &Plan) -> (usize, Vec<(String, Why)>) {
        let surplus = plan.surplus();
        let surplus = surplus.map(|one| (one.pod.name_any(), one.why));
        (plan.missing().count(), surplus.collect())
    }

    #[test]
    fn each_node_without_a_pod_gets_one_pinned_to_it() {
        let set = set("v1");
        let plan = plan(&set, &[node("a"), node("b")], &[pod(&set, "a", "Running")]);
        let missing: Vec<Pod> = plan.missing().collect();
        assert_eq!(missing.len(), 1);
        assert_eq!(pod::node_of(&missing[0]), Some("b"));
        assert_eq!(missing[0].metadata.namespace.as_deref(), Some("shop"));
        assert_eq!(plan.surplus().count(), 0);
    }

    #[test]
    fn a_pod_that_waits_for_a_node_that_is_gone_goes_too() {
        let set = set("v1");
        let ran = pod(&set, "gone", "Running");
        let mut waits = pod(&set, "lost", "Pending");
        waits.spec.as_mut().unwrap().node_name = None;
        let expected = (0, vec![(waits.name_any(), Why::Unwanted)]);
        assert_eq!(work(&plan(&set, &[], &[ran, waits])), expected);
    }

    #[test]
    fn a_node_keeps_the_pod_that_is_scheduled_or_else_the_oldest() {
        let set = set("v1");
        let mut others = [pod(&set, "a", "Running"), pod(&set, "a", "Pending")];
        others[0].metadata.name = Some("young".to_owned());
        others[0].metadata.creation_timestamp = Some(Time(NOW.parse().unwrap()));
        others[1].metadata.name = Some("waiting".to_owned());
        others[1].spec.as_mut().unwrap().node_name = None;
        let [young, waiting] = others;
        let pods = [waiting, young, pod(&set, "a", "Running")];
        let expected = ["young", "waiting"].map(|name| (name.to_owned(), Why::Unwanted));
        assert_eq!(work(&plan(&set, &[node("a")], &pods)), (0, expected.into()));
    }

    #[test]
    fn a_taint_keeps_pods_from_starting_or_from_staying() {
        let set = set("v1");
        let pods = [pod(&set, "a", "Running")];
        let keep_out = [tainted("a", "NoSchedule"), tainted("b", "NoSchedule")];
        assert_eq!(work(&plan(&set, &keep_out, &pods)), (0, vec![]));
        let throw_out = plan(&set, &[tainted("a", "NoExecute")], &pods);
        assert_eq!(throw_out.surplus().count(), 1);
    }

    #[test]
    fn a_pod_that_is_going_keeps_the_place_of_the_next() {
        let set = set("v1");
        let mut going = pod(&set, "a", "Running");
        going.metadata.deletion_timestamp = Some(Time(NOW.parse().unwrap()));
        assert_eq!(work(&plan(&set, &[node("a")], &[going])), (0, vec![]));
    }

    #[test]
    fn a_set_that_is_being_deleted_is_left_alone() {
        let mut set = set("v1");
        let pods = [pod(&set, "a", "Running")];
        set.metadata.deletion_timestamp = Some(Time(NOW.parse().unwrap()));
        let plan = plan(&set, &[node("b")], &pods);
        assert_eq!(work(&plan), (0, vec![]));
        let mut status = MyDaemonSetStatus::default();
        plan.report(&mut status, true);
        assert_eq!(status, MyDaemonSetStatus::default());
    }

    #[test]
    fn a_pod_that_has_failed_is_replaced_at_once_and_later_the_next_time() {
        let set = set("v1");
        let pods = [pod(&set, "a", "Failed"), pod(&set, "b", "Succeeded")];
        let nodes = [node("a"), node("b")];
        let (first, second) = (pods[0].name_any(), pods[1].name_any());
        let ended = (second, Why::Succeeded);
        let expected = (0, vec![(first, Why::Failed), ended.clone()]);
        assert_eq!(work(&plan(&set, &nodes, &pods)), expected);
        let mut failed = FailedPods::default();
        failed.note(place(&set, "a"), NOW.parse().unwrap());
        let again = plan_with(&set, &nodes, &pods, &failed);
        assert_eq!(work(&again), (0, vec![ended]));
        assert_eq!(again.outcome().next_run(), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_pod_that_is_ready_counts_when_it_has_been_so_for_long_enough() {
        let mut set = set("v2");
        set.spec.min_ready_seconds = 15;
        let nodes = [node("a"), node("b")];
        let pods = [
            pod(&set, "a", "Running"),
            pod(&self::set("v1"), "b", "Running"),
        ];
        let plan = plan(&set, &nodes, &pods);
        // Ready for 10 s: 5 s are left, and one to be sure. Both wait, so the old one may go.
        assert_eq!(plan.outcome().next_run(), Some(Duration::from_secs(6)));
        let mut status = MyDaemonSetStatus::default();
        plan.report(&mut status, true);
        assert_eq!((status.ready_replicas, status.available_replicas), (2, 0));
    }

    #[test]
    fn at_most_250_pods_are_made_in_one_run() {
        let nodes: Vec<Node> = (0..300).map(|number| node(&number.to_string())).collect();
        assert_eq!(plan(&set("v1"), &nodes, &[]).missing().count(), 250);
    }

    #[test]
    fn the_generation_is_told_only_when_the_plan_was_carried_out() {
        let plan = plan(&set("v1"), &[node("a")], &[]);
        let mut status = MyDaemonSetStatus {
            observed_generation: 6,
            ..MyDaemonSetStatus::default()
        };
        plan.report(&mut status, false);
        assert_eq!(
            (status.observed_generation, status.desired_replicas),
            (6, 1)
        );
        plan.report(&mut status, true);
        assert_eq!(status.observed_generation, 7);
    }
}
