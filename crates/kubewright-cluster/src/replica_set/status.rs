use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::selection::{equality_selector, selects};
use crate::view::{condition, items, number, text, unless_zero};
use kubewright_apiserver::store::Object;

/// The Pods of a ReplicaSet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pods<'a> {
    pub(super) active: &'a [Arc<Object>],
    pub(super) terminating: usize,
}

/// The status that a ReplicaSet should have; none when it has it.
pub(super) fn next_status(
    set: &Object,
    pods: Pods<'_>,
    failure: Option<&Status>,
    now: Timestamp,
) -> Option<Value> {
    let value = set.value();
    let labels = equality_selector(value.pointer("/spec/template/metadata/labels"));
    let wait = number(value, "/spec/minReadySeconds").unwrap_or_default();
    let count = |holds: &dyn Fn(&Value) -> bool| {
        unless_zero(pods.active.iter().filter(|pod| holds(pod.value())).count())
    };
    let mut status = json!({
        "replicas": pods.active.len(),
        "fullyLabeledReplicas": count(&|pod| {
            labels.as_ref().is_none_or(|labels| selects(labels, pod))
        }),
        "readyReplicas": count(&|pod| ready_since(pod).is_some()),
        "availableReplicas": count(&|pod| {
            available_in(pod, wait, now).is_some_and(|left| left.is_zero())
        }),
        "terminatingReplicas": pods.terminating,
        "observedGeneration": unless_zero(set.generation()),
    });
    if let Some(conditions) = conditions(set, pods.active.len(), failure, now) {
        status["conditions"] = conditions;
    }
    let old = value.get("status").unwrap_or(&Value::Null);
    is_news(old, &status).then_some(status)
}

/// Whether a status says something that the stored one does not: zeros need not be stored.
fn is_news(old: &Value, new: &Value) -> bool {
    let members = new.as_object().into_iter().flatten();
    let said = |name: &str| old.get(name).filter(|value| !is_zero(value));
    let mut differs = members.map(|(name, value)| {
        said(name) != Some(value).filter(|value| !is_zero(value))
            || name == "terminatingReplicas" && old.get(name).is_none()
    });
    differs.any(|differs| differs) || old.get("replicas").is_none()
}

fn is_zero(value: &Value) -> bool {
    value.as_i64() == Some(0) || value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The conditions with or without the one that tells of a failure; none when they stay.
fn conditions(
    set: &Object,
    active: usize,
    failure: Option<&Status>,
    now: Timestamp,
) -> Option<Value> {
    const FAILURE: &str = "ReplicaFailure";
    let others = items(set.value(), "/status/conditions").iter();
    let others = others.filter(|one| text(one, "/type") != FAILURE);
    let mut conditions: Vec<Value> = others.cloned().collect();
    match (failure, condition(set.value(), FAILURE)) {
        (None, None) | (Some(_), Some(_)) => return None,
        (None, Some(_)) if conditions.is_empty() => return Some(Value::Null),
        (None, Some(_)) => {}
        (Some(failure), None) => {
            let wanted = replicas(set.value());
            let reason = match i64::try_from(active).unwrap_or(i64::MAX) < wanted {
                true => "FailedCreate",
                false => "FailedDelete",
            };
            conditions.push(json!({
                "type": FAILURE,
                "status": "True",
                "reason": reason,
                "message": failure.message,
                "lastTransitionTime": kubewright_apiserver::timestamp(now),
            }));
        }
    }
    Some(conditions.into())
}

/// How many Pods are asked for: one unless it says otherwise.
pub(super) fn replicas(set: &Value) -> i64 {
    number(set, "/spec/replicas").unwrap_or(1)
}

/// When the Pod became ready; none when it is not.
fn ready_since(pod: &Value) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|ready| text(ready, "/status") == "True")?;
    text(ready, "/lastTransitionTime").parse().ok()
}

/// How long until the Pod has been ready for the given number of seconds; none when it is not
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
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Pods, next_status};
    use kubewright_apiserver::store::Object;

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
    fn pods_are_available_when_they_have_been_ready_for_long_enough() {
        let set = object(json!({
            "metadata": {"generation": 2},
            "spec": {
                "replicas": 3, "minReadySeconds": 10,
                "template": {"metadata": {"labels": {"app": "web"}}},
            },
            "status": {"replicas": 0},
        }));
        let active = [pod("2026-01-01T00:00:00Z"), pod("2026-01-01T00:00:25Z")];
        let pods = Pods {
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
    fn a_failure_is_told_once_and_taken_back() {
        let set =
            json!({"spec": {"replicas": 1}, "status": {"replicas": 0, "terminatingReplicas": 0}});
        let pods = Pods {
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
