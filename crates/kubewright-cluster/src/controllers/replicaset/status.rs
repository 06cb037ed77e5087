//! The status of a ReplicaSet.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::store::Object;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::framework::{condition, items, null_if_zero, number, plain_selector, selects, text};

const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The Pods of a ReplicaSet.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetPods<'a> {
    pub(super) active: &'a [Arc<Object>],
    pub(super) terminating: usize,
}

/// The status that a ReplicaSet should have (`calculateStatus`); `None` when it has it already.
pub(super) fn next_status(
    set: &Object,
    pods: SetPods<'_>,
    failure: Option<&Status>,
    now: Timestamp,
) -> Option<Value> {
    let value = set.value();
    let labels = plain_selector(value.pointer("/spec/template/metadata/labels"));
    let min_ready = number(value, "/spec/minReadySeconds").unwrap_or_default();
    let count = |is_counted: &dyn Fn(&Value) -> bool| {
        let counted = pods.active.iter().filter(|pod| is_counted(pod.value()));
        null_if_zero(counted.count())
    };
    let mut status = json!({
        "replicas": pods.active.len(),
        "fullyLabeledReplicas": count(&|pod| {
            labels.as_ref().is_none_or(|labels| selects(labels, pod))
        }),
        "readyReplicas": count(&|pod| ready_since(pod).is_some()),
        "availableReplicas": count(&|pod| {
            available_in(pod, min_ready, now).is_some_and(|wait| wait.is_zero())
        }),
        "terminatingReplicas": pods.terminating,
        "observedGeneration": null_if_zero(set.generation()),
    });
    if let Some(conditions) = next_conditions(set, pods.active.len(), failure, now) {
        status["conditions"] = conditions;
    }
    let stored = value.get("status").unwrap_or(&Value::Null);
    is_changed(stored, &status).then_some(status)
}

/// Whether a status differs from the stored one. A zero that is not stored is no difference.
fn is_changed(stored: &Value, new: &Value) -> bool {
    let mut fields = new.as_object().into_iter().flatten();
    fields.any(|(name, value)| {
        let old = stored.get(name);
        old.filter(|old| !is_zero(old)) != Some(value).filter(|value| !is_zero(value))
            || name == "terminatingReplicas" && old.is_none()
    }) || stored.get("replicas").is_none()
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The conditions with or without `ReplicaFailure`; `None` when they are unchanged.
fn next_conditions(
    set: &Object,
    active: usize,
    failure: Option<&Status>,
    now: Timestamp,
) -> Option<Value> {
    let mut conditions = items(set.value(), "/status/conditions").to_vec();
    match (failure, condition(set.value(), REPLICA_FAILURE)) {
        (None, None) | (Some(_), Some(_)) => None,
        (None, Some(_)) => {
            conditions.retain(|condition| text(condition, "/type") != REPLICA_FAILURE);
            Some(if conditions.is_empty() {
                Value::Null
            } else {
                conditions.into()
            })
        }
        (Some(failure), None) => {
            let is_short = i64::try_from(active).unwrap_or(i64::MAX) < replicas(set.value());
            conditions.push(json!({
                "type": REPLICA_FAILURE,
                "status": "True",
                "reason": if is_short { "FailedCreate" } else { "FailedDelete" },
                "message": failure.message,
                "lastTransitionTime": kubewright_apiserver::timestamp(now),
            }));
            Some(conditions.into())
        }
    }
}

/// The wanted number of Pods: one by default.
pub(super) fn replicas(set: &Value) -> i64 {
    number(set, "/spec/replicas").unwrap_or(1)
}

/// When a Pod became ready; `None` when it is not ready.
pub(super) fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|ready| text(ready, "/status") == "True")?;
    text(ready, "/lastTransitionTime").parse().ok()
}

/// How long until a Pod has been ready for the given number of seconds; `None` when it is not
/// ready.
pub(super) fn available_in(pod: &Value, seconds: i64, now: Timestamp) -> Option<Duration> {
    let since = ready_since(pod)?;
    if seconds == 0 {
        return Some(Duration::ZERO);
    }
    let time = since.checked_add(SignedDuration::from_secs(seconds)).ok()?;
    Some(Duration::try_from(time.duration_since(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{SetPods, next_status};

    fn object(value: Value) -> Object {
        Object::new(value, Revision::new(1))
    }

    fn pod(ready: &str) -> Arc<Object> {
        let condition = json!({"type": "Ready", "status": "True", "lastTransitionTime": ready});
        Arc::new(object(json!({
            "metadata": {"labels": {"app": "web"}},
            "status": {"conditions": [condition]},
        })))
    }

    fn now() -> Timestamp {
        "2026-01-01T00:00:30Z".parse().unwrap()
    }

    #[test]
    fn pods_are_available_after_min_ready_seconds() {
        let set = object(json!({
            "metadata": {"generation": 2},
            "spec": {
                "replicas": 3, "minReadySeconds": 10,
                "template": {"metadata": {"labels": {"app": "web"}}},
            },
            "status": {"replicas": 0},
        }));
        let active = [pod("2026-01-01T00:00:00Z"), pod("2026-01-01T00:00:25Z")];
        let pods = SetPods {
            active: &active,
            terminating: 1,
        };
        let status = next_status(&set, pods, None, now()).unwrap();
        assert_eq!(
            status,
            json!({
                "replicas": 2, "fullyLabeledReplicas": 2, "readyReplicas": 2,
                "availableReplicas": 1, "terminatingReplicas": 1, "observedGeneration": 2,
            })
        );
        let mut value = set.value().clone();
        value["status"] = status;
        assert_eq!(next_status(&object(value), pods, None, now()), None);
    }

    #[test]
    fn replica_failure_is_set_once_and_removed_after_success() {
        let set =
            json!({"spec": {"replicas": 1}, "status": {"replicas": 0, "terminatingReplicas": 0}});
        let pods = SetPods {
            active: &[],
            terminating: 0,
        };
        let failure = kubewright_wire::status::Status::internal("no");
        let status = next_status(&object(set.clone()), pods, Some(&failure), now()).unwrap();
        assert_eq!(status["conditions"][0]["reason"], "FailedCreate");
        let mut failed = set;
        failed["status"] = status;
        assert_eq!(
            next_status(&object(failed.clone()), pods, Some(&failure), now()),
            None
        );
        let status = next_status(&object(failed), pods, None, now()).unwrap();
        assert_eq!(status["conditions"], Value::Null);
    }
}
