//! The plans for sets, nodes and Pods.

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

fn plan_with(backoff: &FailedPodsBackoff, set: &MyDaemonSet, nodes: &[Node], pods: &[Pod]) -> Plan {
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
