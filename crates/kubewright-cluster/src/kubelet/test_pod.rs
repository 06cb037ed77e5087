//! A Pod for the tests of what a kubelet says of it.

use serde_json::{Value, json};

use super::pod_status::{Surroundings, next_status};
use crate::orders::PodFate;

pub(super) fn next(pod: &Value, now: &str) -> Option<Value> {
    next_of(&PodFate::Normal, pod, now)
}

pub(super) fn next_of(fate: &PodFate, pod: &Value, now: &str) -> Option<Value> {
    let around = Surroundings {
        now,
        host_address: "127.0.0.1",
        pod_address: "10.64.0.1",
        fate,
        may_crash: true,
    };
    next_status(pod, around)
}

pub(super) fn pod(image: &str) -> Value {
    json!({
        "metadata": {"uid": "u", "generation": 1},
        "spec": {"containers": [{"name": "app", "image": image}, {"name": "side", "image": "s:1"}]},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]},
    })
}

/// The Pod with the status laid over the one it had.
pub(super) fn after(mut pod: Value, status: Value) -> Value {
    for (name, value) in status.as_object().unwrap() {
        pod["status"][name] = value.clone();
    }
    pod
}
