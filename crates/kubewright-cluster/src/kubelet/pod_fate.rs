use serde_json::{Value, json};

use super::containers::{Crash, crashed, failed, recovered, waiting};
use super::pod_conditions::{Readiness, conditions, gates_are_open};
use super::pod_status::{Surroundings, is_ready, placed, readiness};
use crate::view::{is_true, items};

/// The containers are being created, for ever; said once.
pub(super) fn held(pod: &Value, around: Surroundings<'_>) -> Option<Value> {
    if !items(pod, "/status/containerStatuses").is_empty() {
        return None;
    }
    let containers = items(pod, "/spec/containers").iter().map(waiting);
    let containers: Vec<_> = containers.collect();
    let initial = items(pod, "/spec/initContainers").iter().map(waiting);
    let initial: Vec<_> = initial.collect();
    let mut status = placed(pod, around);
    let readiness = match initial.is_empty() {
        true => Readiness::unready(pod),
        false => Readiness::Uninitialized,
    };
    status["conditions"] = conditions(pod, &readiness, around.now).into();
    status["containerStatuses"] = containers.into();
    if !initial.is_empty() {
        status["initContainerStatuses"] = initial.into();
    }
    status["phase"] = "Pending".into();
    Some(status)
}

/// Containers that do not run, or are not as ready as they should be, are put right.
pub(super) fn settled(pod: &Value, around: Surroundings<'_>) -> Option<Value> {
    let is_ready = is_ready(around);
    let statuses = items(pod, "/status/containerStatuses");
    let is_settled = |one: &Value| {
        one["ready"].as_bool() == Some(is_ready) && one.pointer("/state/running").is_some()
    };
    let wanted = is_ready && gates_are_open(pod);
    if statuses.iter().all(is_settled) && is_true(pod, "Ready") == wanted {
        return None;
    }
    let containers = statuses
        .iter()
        .map(|one| recovered(one, is_ready, around.now));
    Some(json!({
        "conditions": conditions(pod, &readiness(pod, is_ready), around.now),
        "containerStatuses": containers.collect::<Vec<_>>(),
    }))
}

/// The containers have ended once more and wait to be started again.
pub(super) fn crash(pod: &Value, how: Crash, around: Surroundings<'_>) -> Value {
    let containers = items(pod, "/status/containerStatuses").iter();
    let containers = containers.map(|one| crashed(pod, one, how, around.now));
    json!({
        "conditions": conditions(pod, &Readiness::unready(pod), around.now),
        "containerStatuses": containers.collect::<Vec<_>>(),
    })
}

/// The Pod has failed for good.
pub(super) fn fail(pod: &Value, reason: &str, around: Surroundings<'_>) -> Value {
    let containers = items(pod, "/status/containerStatuses").iter();
    let containers = containers.map(|one| failed(one, around.now));
    let ended = Readiness::Ended("PodFailed");
    let mut status = placed(pod, around);
    status["conditions"] = conditions(pod, &ended, around.now).into();
    status["containerStatuses"] = containers.collect::<Vec<_>>().into();
    status["phase"] = "Failed".into();
    status["reason"] = reason.into();
    status
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::kubelet::test_pod::{after, next, next_of, pod};
    use crate::orders::PodFate;

    #[test]
    fn a_held_pod_waits_and_runs_when_it_is_let_go() {
        let held = next_of(&PodFate::Hold, &pod("a:1"), "T1").unwrap();
        assert_eq!(held["phase"], "Pending");
        let state = &held["containerStatuses"][0]["state"];
        assert_eq!(state["waiting"]["reason"], "ContainerCreating");
        let waits = after(pod("a:1"), held);
        assert_eq!(next_of(&PodFate::Hold, &waits, "T2"), None);
        let status = next(&waits, "T3").unwrap();
        assert_eq!(
            (&status["phase"], &status["startTime"]),
            (&json!("Running"), &json!("T1"))
        );
    }

    #[test]
    fn a_pod_that_is_never_ready_runs_and_recovers() {
        let status = next_of(&PodFate::NeverReady, &pod("a:1"), "T1").unwrap();
        assert_eq!(status["conditions"][2]["reason"], "ContainersNotReady");
        assert_eq!(
            status["conditions"][2]["message"],
            "containers with unready status: [app side]"
        );
        let unready = after(pod("a:1"), status);
        assert_eq!(next_of(&PodFate::NeverReady, &unready, "T2"), None);
        let status = next(&unready, "T3").unwrap();
        assert_eq!(status["conditions"][2]["status"], "True");
        assert_eq!(status["containerStatuses"][1]["ready"], true);
        assert_eq!(next(&after(unready, status), "T4"), None);
    }

    #[test]
    fn a_crashing_pod_counts_its_restarts() {
        let ran = after(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
        let once = after(
            ran.clone(),
            next_of(&PodFate::CrashLoop, &ran, "T2").unwrap(),
        );
        let container = &once["status"]["containerStatuses"][0];
        assert_eq!(container["restartCount"], 1);
        assert_eq!(container["state"]["waiting"]["reason"], "CrashLoopBackOff");
        assert_eq!(container["lastState"]["terminated"]["exitCode"], 1);
        let twice = next_of(&PodFate::CrashLoop, &once, "T3").unwrap();
        assert_eq!(twice["containerStatuses"][0]["restartCount"], 2);
        let recovered = next(&after(once, twice), "T4").unwrap();
        let container = &recovered["containerStatuses"][0];
        assert_eq!(container["restartCount"], 2);
        assert_eq!(container["state"]["running"]["startedAt"], "T4");
    }

    #[test]
    fn a_pod_fails_or_succeeds_on_request() {
        let ran = after(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
        let failed = next_of(&PodFate::Fail("Evicted".to_owned()), &ran, "T2").unwrap();
        assert_eq!(
            (&failed["phase"], &failed["reason"]),
            (&json!("Failed"), &json!("Evicted"))
        );
        let mut once = ran;
        once["spec"]["restartPolicy"] = "Never".into();
        let done = next_of(&PodFate::Complete, &once, "T2").unwrap();
        assert_eq!(done["phase"], "Succeeded");
        once["spec"]["restartPolicy"] = "Always".into();
        let again = next_of(&PodFate::Complete, &once, "T2").unwrap();
        let last = &again["containerStatuses"][0]["lastState"];
        assert_eq!(last["terminated"]["reason"], "Completed");
    }
}
