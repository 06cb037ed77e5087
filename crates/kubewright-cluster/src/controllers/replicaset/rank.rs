//! The order in which surplus Pods of a ReplicaSet are deleted.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kubewright_apiserver::store::Object;

use super::status::ready_since;
use crate::framework::{is_true, items, node_name, text};

/// The Pods in the order in which they are deleted (`ActivePodsWithRanks` of
/// pkg/controller/controller_utils.go): those without a node, those that are pending, those that
/// are not ready, those that share a node with others, then the youngest.
pub(super) fn deletion_order(mut pods: Vec<Arc<Object>>, now: Timestamp) -> Vec<Arc<Object>> {
    let mut ready_on_node: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| is_true(pod.value(), "Ready")) {
        let node = node_name(pod.value());
        *ready_on_node.entry(node.to_owned()).or_default() += 1;
    }
    let rank = |pod: &Object| ready_on_node.get(node_name(pod.value())).copied();
    pods.sort_by(|a, b| {
        has_node(a)
            .cmp(&has_node(b))
            .then_with(|| phase_rank(a).cmp(&phase_rank(b)))
            .then_with(|| is_ready(a).cmp(&is_ready(b)))
            .then_with(|| deletion_cost(a).cmp(&deletion_cost(b)))
            .then_with(|| Reverse(rank(a)).cmp(&Reverse(rank(b))))
            .then_with(|| by_age(a, b, now, |pod| ready_since(pod.value())))
            .then_with(|| Reverse(restarts(a)).cmp(&Reverse(restarts(b))))
            .then_with(|| by_age(a, b, now, created))
    });
    pods
}

fn has_node(pod: &Object) -> bool {
    !node_name(pod.value()).is_empty()
}

fn is_ready(pod: &Object) -> bool {
    is_true(pod.value(), "Ready")
}

fn phase_rank(pod: &Object) -> u8 {
    match text(pod.value(), "/status/phase") {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    }
}

fn deletion_cost(pod: &Object) -> i32 {
    let annotation = pod.annotation("controller.kubernetes.io/pod-deletion-cost");
    annotation
        .and_then(|cost| cost.parse().ok())
        .unwrap_or_default()
}

fn created(pod: &Object) -> Option<Timestamp> {
    text(pod.value(), "/metadata/creationTimestamp")
        .parse()
        .ok()
}

fn restarts(pod: &Object) -> u64 {
    let containers = items(pod.value(), "/status/containerStatuses").iter();
    let counts = containers.filter_map(|container| container["restartCount"].as_u64());
    counts.max().unwrap_or_default()
}

/// Orders the younger Pod first. Ages of the same binary magnitude count as equal, and the uid
/// decides (feature `LogarithmicScaleDown`).
fn by_age(
    a: &Object,
    b: &Object,
    now: Timestamp,
    since: impl Fn(&Object) -> Option<Timestamp>,
) -> Ordering {
    let (Some(first), Some(second)) = (since(a), since(b)) else {
        return since(a).is_some().cmp(&since(b).is_some());
    };
    if first == second {
        return Ordering::Equal;
    }
    let magnitude = |since: Timestamp| {
        let age = now.duration_since(since).as_nanos().max(0);
        // Zero for no age, and one more with each doubling.
        128 - u128::try_from(age).unwrap_or_default().leading_zeros()
    };
    match magnitude(first).cmp(&magnitude(second)) {
        Ordering::Equal => a.uid().cmp(b.uid()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::deletion_order;

    fn pod(name: &str, node: &str, ready: &str, created: &str) -> Value {
        json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": created},
            "spec": {"nodeName": node},
            "status": {"phase": "Running", "conditions": [
                {"type": "Ready", "status": ready, "lastTransitionTime": created},
            ]},
        })
    }

    fn order(pods: &[Value]) -> Vec<String> {
        let objects = pods
            .iter()
            .map(|pod| Arc::new(Object::new(pod.clone(), Revision::new(1))))
            .collect();
        let now = "2026-01-01T01:00:00Z".parse().unwrap();
        deletion_order(objects, now)
            .iter()
            .map(|pod| pod.name().to_owned())
            .collect()
    }

    #[test]
    fn pods_are_deleted_by_node_phase_readiness_cost_and_age() {
        let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-01T00:59:00Z");
        let mut pending = pod("pending", "n1", "False", early);
        pending["status"]["phase"] = "Pending".into();
        let mut cheap = pod("cheap", "n2", "True", early);
        cheap["metadata"]["annotations"] =
            json!({"controller.kubernetes.io/pod-deletion-cost": "-5"});
        let pods = [
            pod("old", "n3", "True", early),
            pod("young", "n4", "True", late),
            pod("beside-1", "n5", "True", early),
            pod("beside-2", "n5", "True", early),
            cheap,
            pod("unready", "n1", "False", early),
            pending,
            pod("unscheduled", "", "False", early),
        ];
        assert_eq!(
            order(&pods),
            [
                "unscheduled",
                "pending",
                "unready",
                "cheap",
                "beside-1",
                "beside-2",
                "young",
                "old"
            ]
        );
    }
}
