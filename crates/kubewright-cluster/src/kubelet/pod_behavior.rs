//! The status of Pods that do not behave normally, and of those that recover.

use serde_json::{Value, json};

use super::container_status::{Exit, crashed, failed, recovered, waiting};
use super::pod_conditions::{Readiness, are_gates_open, conditions};
use super::pod_context::PodContext;
use crate::framework::{is_true, items};

/// The status of a Pod whose containers are never created; `None` once it has it.
pub(super) fn held(pod: &Value, context: PodContext<'_>) -> Option<Value> {
    if !items(pod, "/status/containerStatuses").is_empty() {
        return None;
    }
    let waiting_list = |pointer: &str| -> Vec<Value> {
        let containers = items(pod, pointer).iter();
        containers.map(waiting).collect()
    };
    let init_containers = waiting_list("/spec/initContainers");
    let readiness = if init_containers.is_empty() {
        Readiness::unready(pod)
    } else {
        Readiness::Uninitialized
    };
    let mut status = context.base_status(pod);
    status["conditions"] = conditions(pod, &readiness, context.now).into();
    status["containerStatuses"] = waiting_list("/spec/containers").into();
    if !init_containers.is_empty() {
        status["initContainerStatuses"] = init_containers.into();
    }
    status["phase"] = "Pending".into();
    Some(status)
}

/// The status of a Pod whose containers should run and be ready, or not ready; `None` when they
/// are.
pub(super) fn settled(pod: &Value, context: PodContext<'_>) -> Option<Value> {
    let is_ready = context.is_ready();
    let statuses = items(pod, "/status/containerStatuses");
    let is_settled = |container: &Value| {
        container["ready"].as_bool() == Some(is_ready)
            && container.pointer("/state/running").is_some()
    };
    let should_be_ready = is_ready && are_gates_open(pod);
    if statuses.iter().all(is_settled) && is_true(pod, "Ready") == should_be_ready {
        return None;
    }
    let containers: Vec<_> = statuses
        .iter()
        .map(|container| recovered(container, is_ready, context.now))
        .collect();
    Some(json!({
        "conditions": conditions(pod, &context.readiness(pod), context.now),
        "containerStatuses": containers,
    }))
}

/// The status of a Pod whose containers have exited again and wait to be restarted.
pub(super) fn crash(pod: &Value, exit: Exit, context: PodContext<'_>) -> Value {
    let containers: Vec<_> = items(pod, "/status/containerStatuses")
        .iter()
        .map(|container| crashed(pod, container, exit, context.now))
        .collect();
    json!({
        "conditions": conditions(pod, &Readiness::unready(pod), context.now),
        "containerStatuses": containers,
    })
}

/// The status of a Pod that has failed.
pub(super) fn fail(pod: &Value, reason: &str, context: PodContext<'_>) -> Value {
    let containers: Vec<_> = items(pod, "/status/containerStatuses")
        .iter()
        .map(|container| failed(container, context.now))
        .collect();
    let mut status = context.base_status(pod);
    let ended = Readiness::Ended("PodFailed");
    status["conditions"] = conditions(pod, &ended, context.now).into();
    status["containerStatuses"] = containers.into();
    status["phase"] = "Failed".into();
    status["reason"] = reason.into();
    status
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::settings::PodBehavior;
    use super::super::test_pod::{next, next_with, pod, with_status};

    #[test]
    fn held_pod_stays_pending_and_runs_after_release() {
        let held = next_with(&PodBehavior::Hold, &pod("a:1"), "T1").unwrap();
        assert_eq!(held["phase"], "Pending");
        let state = &held["containerStatuses"][0]["state"];
        assert_eq!(state["waiting"]["reason"], "ContainerCreating");
        let waits = with_status(pod("a:1"), held);
        assert_eq!(next_with(&PodBehavior::Hold, &waits, "T2"), None);
        let status = next(&waits, "T3").unwrap();
        assert_eq!(
            (&status["phase"], &status["startTime"]),
            (&json!("Running"), &json!("T1"))
        );
    }

    #[test]
    fn never_ready_pod_runs_and_becomes_ready_after_release() {
        let status = next_with(&PodBehavior::NeverReady, &pod("a:1"), "T1").unwrap();
        assert_eq!(status["conditions"][2]["reason"], "ContainersNotReady");
        assert_eq!(
            status["conditions"][2]["message"],
            "containers with unready status: [app side]"
        );
        let unready = with_status(pod("a:1"), status);
        assert_eq!(next_with(&PodBehavior::NeverReady, &unready, "T2"), None);
        let status = next(&unready, "T3").unwrap();
        assert_eq!(status["conditions"][2]["status"], "True");
        assert_eq!(status["containerStatuses"][1]["ready"], true);
        assert_eq!(next(&with_status(unready, status), "T4"), None);
    }

    #[test]
    fn crashing_pod_counts_its_restarts() {
        let ran = with_status(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
        let once = with_status(
            ran.clone(),
            next_with(&PodBehavior::CrashLoop, &ran, "T2").unwrap(),
        );
        let container = &once["status"]["containerStatuses"][0];
        assert_eq!(container["restartCount"], 1);
        assert_eq!(container["state"]["waiting"]["reason"], "CrashLoopBackOff");
        assert_eq!(container["lastState"]["terminated"]["exitCode"], 1);
        let twice = next_with(&PodBehavior::CrashLoop, &once, "T3").unwrap();
        assert_eq!(twice["containerStatuses"][0]["restartCount"], 2);
        let recovered = next(&with_status(once, twice), "T4").unwrap();
        let container = &recovered["containerStatuses"][0];
        assert_eq!(container["restartCount"], 2);
        assert_eq!(container["state"]["running"]["startedAt"], "T4");
    }

    #[test]
    fn pod_fails_or_succeeds_by_its_behavior() {
        let ran = with_status(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
        let failed = next_with(&PodBehavior::Fail("Evicted".to_owned()), &ran, "T2").unwrap();
        assert_eq!(
            (&failed["phase"], &failed["reason"]),
            (&json!("Failed"), &json!("Evicted"))
        );
        let mut once = ran;
        once["spec"]["restartPolicy"] = "Never".into();
        let done = next_with(&PodBehavior::Complete, &once, "T2").unwrap();
        assert_eq!(done["phase"], "Succeeded");
        once["spec"]["restartPolicy"] = "Always".into();
        let again = next_with(&PodBehavior::Complete, &once, "T2").unwrap();
        let last = &again["containerStatuses"][0]["lastState"];
        assert_eq!(last["terminated"]["reason"], "Completed");
    }
}
