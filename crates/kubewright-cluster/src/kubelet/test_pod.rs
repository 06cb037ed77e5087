//! A Pod for the tests of Pod statuses.

use serde_json::{Value, json};

use super::pod_context::PodContext;
use super::pod_status::next_status;
use super::settings::PodBehavior;

/// The next status of a Pod that behaves normally.
pub(super) fn next(pod: &Value, now: &str) -> Option<Value> {
    next_with(&PodBehavior::Normal, pod, now)
}

pub(super) fn next_with(behavior: &PodBehavior, pod: &Value, now: &str) -> Option<Value> {
    let context = PodContext {
        now,
        host_address: "127.0.0.1",
        pod_address: "10.64.0.1",
        behavior,
        may_exit: true,
    };
    next_status(pod, context)
}

pub(super) fn pod(image: &str) -> Value {
    json!({
        "metadata": {"uid": "u", "generation": 1},
        "spec": {"containers": [{"name": "app", "image": image}, {"name": "side", "image": "s:1"}]},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]},
    })
}

/// The Pod after a merge patch of its status.
pub(super) fn with_status(mut pod: Value, status: Value) -> Value {
    for (name, value) in status.as_object().unwrap() {
        pod["status"][name] = value.clone();
    }
    pod
}
