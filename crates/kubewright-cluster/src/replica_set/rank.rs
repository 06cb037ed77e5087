use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::view::{condition, is_true, items, text};
use kubewright_apiserver::store::Object;

/// The Pods in the order in which they are given up (`ActivePodsWithRanks` of
/// pkg/controller/controller_utils.go): those without a node, then those that are least far, then
/// those that share a node with others, then the youngest.
pub(super) fn least_wanted(mut pods: Vec<Arc<Object>>, now: Timestamp) -> Vec<Arc<Object>> {
    let mut ready_on: BTreeMap<String, usize> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| is_true(pod.value(), "Ready")) {
        let node = text(pod.value(), "/spec/nodeName");
        *ready_on.entry(node.to_owned()).or_default() += 1;
    }
    let together = |pod: &Value| ready_on.get(text(pod, "/spec/nodeName")).copied();
    pods.sort_by(|a, b| {
        let (one, two) = (a.value(), b.value());
        let has_node = |pod: &Value| !text(pod, "/spec/nodeName").is_empty();
        let is_ready = |pod: &Value| is_true(pod, "Ready");
        has_node(one)
            .cmp(&has_node(two))
            .then_with(|| phase(one).cmp(&phase(two)))
            .then_with(|| is_ready(one).cmp(&is_ready(two)))
            .then_with(|| cost(a).cmp(&cost(b)))
            .then_with(|| Reverse(together(one)).cmp(&Reverse(together(two))))
            .then_with(|| by_age(ready_since(one), ready_since(two), (a, b), now))
            .then_with(|| Reverse(restarts(one)).cmp(&Reverse(restarts(two))))
            .then_with(|| by_age(created(one), created(two), (a, b), now))
    });
    pods
}

fn phase(pod: &Value) -> u8 {
    match text(pod, "/status/phase") {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    }
}

/// What deleting the Pod costs, as somebody has noted on it.
fn cost(pod: &Object) -> i32 {
    let noted = pod.annotation("controller.kubernetes.io/pod-deletion-cost");
    noted.and_then(|cost| cost.parse().ok()).unwrap_or_default()
}

fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|ready| text(ready, "/status") == "True")?;
    text(ready, "/lastTransitionTime").parse().ok()
}

fn created(pod: &Value) -> Option<Timestamp> {
    text(pod, "/metadata/creationTimestamp").parse().ok()
}

fn restarts(pod: &Value) -> u64 {
    let containers = items(pod, "/status/containerStatuses").iter();
    let counts = containers.filter_map(|one| one["restartCount"].as_u64());
    counts.max().unwrap_or_default()
}

/// The younger first; ages of about the same size count as equal, and the uid decides
/// (`LogarithmicScaleDown`).
fn by_age(
    one: Option<Timestamp>,
    two: Option<Timestamp>,
    (a, b): (&Object, &Object),
    now: Timestamp,
) -> Ordering {
    let (Some(one), Some(two)) = (one, two) else {
        return one.is_some().cmp(&two.is_some());
    };
    if one == two {
        return Ordering::Equal;
    }
    let magnitude = |since: Timestamp| {
        let age = now.duration_since(since).as_nanos().max(0);
        // Zero, and then one more with each doubling.
        128 - u128::try_from(age).unwrap_or_default().leading_zeros()
    };
    match magnitude(one).cmp(&magnitude(two)) {
        Ordering::Equal => a.uid().cmp(b.uid()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::least_wanted;
    use kubewright_apiserver::store::Object;

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
        least_wanted(objects, now)
            .iter()
            .map(|pod| pod.name().to_owned())
            .collect()
    }

    #[test]
    fn the_pod_that_is_least_far_goes_first() {
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
            pod("nowhere", "", "False", early),
        ];
        assert_eq!(
            order(&pods),
            [
                "nowhere", "pending", "unready", "cheap", "beside-1", "beside-2", "young", "old"
            ]
        );
    }
}
