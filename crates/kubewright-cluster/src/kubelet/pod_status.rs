use serde_json::{Value, json};

use super::containers::{Crash, completed, initialized, replaced, started};
use super::pod_conditions::{Readiness, conditions};
use super::pod_fate::{crash, fail, held, settled};
use crate::orders::PodFate;
use crate::view::{items, text};

/// What the kubelet knows besides the Pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings<'a> {
    pub(super) now: &'a str,
    pub(super) host_address: &'a str,
    pub(super) pod_address: &'a str,
    pub(super) fate: &'a PodFate,
    /// Whether the wait after the last crash is over.
    pub(super) may_crash: bool,
}

/// What the kubelet says of a Pod that its node has taken on; none when nothing is new.
pub(super) fn next_status(pod: &Value, around: Surroundings<'_>) -> Option<Value> {
    let phase = text(pod, "/status/phase");
    match (phase, around.fate) {
        ("" | "Pending" | "Running", PodFate::Fail(reason)) => Some(fail(pod, reason, around)),
        ("" | "Pending", PodFate::Hold) => held(pod, around),
        ("" | "Pending", _) => Some(running(pod, around)),
        ("Running", PodFate::CrashLoop) if around.may_crash => {
            Some(crash(pod, Crash::Error, around))
        }
        ("Running", PodFate::CrashLoop) => None,
        ("Running", PodFate::Complete) if !is_restarted(pod) => Some(succeeded(pod, around)),
        ("Running", PodFate::Complete) => around
            .may_crash
            .then(|| crash(pod, Crash::Completed, around)),
        ("Running", PodFate::Normal) if is_of_job(pod) => Some(succeeded(pod, around)),
        ("Running", _) if is_image_changed(pod) => Some(restarted(pod, around)),
        ("Running", _) => settled(pod, around),
        _ => None,
    }
}

fn running(pod: &Value, around: Surroundings<'_>) -> Value {
    let is_ready = is_ready(around);
    let containers = items(pod, "/spec/containers").iter();
    let containers: Vec<_> = containers
        .map(|one| started(pod, one, is_ready, around.now))
        .collect();
    let mut status = placed(pod, around);
    status["conditions"] = conditions(pod, &readiness(pod, is_ready), around.now).into();
    status["containerStatuses"] = containers.into();
    status["phase"] = "Running".into();
    status["podIP"] = around.pod_address.into();
    status["podIPs"] = json!([{"ip": around.pod_address}]);
    let initial = items(pod, "/spec/initContainers").iter();
    let initial: Vec<_> = initial
        .map(|one| initialized(pod, one, around.now))
        .collect();
    if !initial.is_empty() {
        status["initContainerStatuses"] = initial.into();
    }
    status
}

/// What is said of every Pod that a node has taken on.
pub(super) fn placed(pod: &Value, around: Surroundings<'_>) -> Value {
    let start = match text(pod, "/status/startTime") {
        "" => around.now,
        time => time,
    };
    json!({
        "hostIP": around.host_address,
        "hostIPs": [{"ip": around.host_address}],
        "observedGeneration": generation(pod),
        "startTime": start,
    })
}

/// Containers whose image changed are restarted, the others stay as they are.
fn restarted(pod: &Value, around: Surroundings<'_>) -> Value {
    let is_ready = is_ready(around);
    let containers = items(pod, "/spec/containers").iter().enumerate();
    let containers = containers.map(
        |(index, container)| match status_of(pod, index, container) {
            None => started(pod, container, is_ready, around.now),
            Some(old) if has_image_of(old, container) => old.clone(),
            Some(old) => {
                let mut new = replaced(pod, container, old, around.now);
                new["ready"] = is_ready.into();
                new
            }
        },
    );
    let mut status = json!({
        "containerStatuses": containers.collect::<Vec<_>>(),
        "observedGeneration": generation(pod),
    });
    if changed_sidecars(pod).next().is_some() {
        let initial = items(pod, "/status/initContainerStatuses").iter();
        let initial = initial.map(|old| {
            let mut changed = changed_sidecars(pod);
            let changed = changed.find(|one| text(one, "/name") == text(old, "/name"));
            changed.map_or_else(
                || old.clone(),
                |container| replaced(pod, container, old, around.now),
            )
        });
        status["initContainerStatuses"] = initial.collect::<Vec<_>>().into();
    }
    status
}

/// The sidecars among the containers that come first whose image changed: a kubelet restarts them
/// as it does the others.
fn changed_sidecars(pod: &Value) -> impl Iterator<Item = &Value> {
    let statuses = items(pod, "/status/initContainerStatuses");
    let initial = items(pod, "/spec/initContainers").iter();
    let sidecars = initial.filter(|one| text(one, "/restartPolicy") == "Always");
    sidecars.filter(|one| {
        let mut statuses = statuses.iter();
        let status = statuses.find(|old| text(old, "/name") == text(one, "/name"));
        status.is_some_and(|old| !has_image_of(old, one))
    })
}

/// The containers have nothing to do and are done with it.
fn succeeded(pod: &Value, around: Surroundings<'_>) -> Value {
    let containers = items(pod, "/status/containerStatuses").iter();
    let containers: Vec<_> = containers.map(|one| completed(one, around.now)).collect();
    let ended = Readiness::Ended("PodCompleted");
    json!({
        "conditions": conditions(pod, &ended, around.now),
        "containerStatuses": containers,
        "observedGeneration": generation(pod),
        "phase": "Succeeded",
    })
}

/// Whether the containers become ready.
pub(super) fn is_ready(around: Surroundings<'_>) -> bool {
    !matches!(around.fate, PodFate::NeverReady)
}

pub(super) fn readiness(pod: &Value, is_ready: bool) -> Readiness {
    match is_ready {
        true => Readiness::Ready,
        false => Readiness::unready(pod),
    }
}

fn is_of_job(pod: &Value) -> bool {
    let mut owners = items(pod, "/metadata/ownerReferences").iter();
    owners.any(|owner| text(owner, "/kind") == "Job")
}

/// Whether containers that have ended are started again whatever they ended with.
fn is_restarted(pod: &Value) -> bool {
    matches!(text(pod, "/spec/restartPolicy"), "" | "Always")
}

fn is_image_changed(pod: &Value) -> bool {
    let mut containers = items(pod, "/spec/containers").iter().enumerate();
    containers.any(|(index, one)| {
        let status = status_of(pod, index, one);
        status.is_none_or(|old| !has_image_of(old, one))
    }) || changed_sidecars(pod).next().is_some()
}

/// An image that is absent on one side and empty on the other is the same.
fn has_image_of(status: &Value, container: &Value) -> bool {
    text(status, "/image") == text(container, "/image")
}

/// What was said of a container: at its own place first, for nothing keeps names apart yet.
fn status_of<'a>(pod: &'a Value, index: usize, container: &Value) -> Option<&'a Value> {
    let statuses = items(pod, "/status/containerStatuses");
    let is_of = |one: &&Value| text(one, "/name") == text(container, "/name");
    let at_place = statuses.get(index).filter(is_of);
    at_place.or_else(|| statuses.iter().find(is_of))
}

pub(super) fn generation(pod: &Value) -> i64 {
    let generation = pod.pointer("/metadata/generation").and_then(Value::as_i64);
    generation.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::kubelet::test_pod::{after, next, pod};

    #[test]
    fn a_pending_pod_runs_with_the_conditions_of_a_kubelet() {
        let status = next(&pod("a:1"), "T1").unwrap();
        let kinds: Vec<_> = status["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| &one["type"])
            .collect();
        assert_eq!(
            kinds,
            [
                "PodReadyToStartContainers",
                "Initialized",
                "Ready",
                "ContainersReady",
                "PodScheduled"
            ]
        );
        assert_eq!(status["phase"], "Running");
        assert_eq!(
            (&status["podIP"], &status["hostIP"]),
            (&json!("10.64.0.1"), &json!("127.0.0.1"))
        );
        let container = &status["containerStatuses"][0];
        assert_eq!(container["restartCount"], 0);
        // printf a:1 | sha256sum
        assert_eq!(
            container["imageID"],
            "sim@sha256:2b2c40a6706d9e5f320d553628313833e3668d8b0c8f5b0a25a2ca7d926df6d4"
        );
        assert_eq!(next(&after(pod("a:1"), status), "T2"), None);
    }

    #[test]
    fn a_changed_image_restarts_that_container_only() {
        let first = after(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
        let mut changed = first.clone();
        changed["spec"]["containers"][0]["image"] = "a:2".into();
        changed["metadata"]["generation"] = 2.into();
        let status = next(&changed, "T2").unwrap();
        let [app, side] = &status["containerStatuses"].as_array().unwrap()[..] else {
            unreachable!("two containers")
        };
        assert_eq!(
            (&app["restartCount"], &app["image"]),
            (&json!(1), &json!("a:2"))
        );
        assert_eq!(app["lastState"]["terminated"]["startedAt"], "T1");
        assert_eq!(app["lastState"]["terminated"]["reason"], "Completed");
        assert_eq!(app["state"]["running"]["startedAt"], "T2");
        assert_ne!(
            app["imageID"],
            first["status"]["containerStatuses"][0]["imageID"]
        );
        assert_ne!(
            app["containerID"],
            first["status"]["containerStatuses"][0]["containerID"]
        );
        assert_eq!(side, &first["status"]["containerStatuses"][1]);
        assert_eq!(status["observedGeneration"], 2);
        assert_eq!(next(&after(changed, status), "T3"), None);
    }

    #[test]
    fn a_changed_image_restarts_a_sidecar_that_came_first() {
        let mut first = pod("a:1");
        first["spec"]["initContainers"] = json!([
            {"name": "once", "image": "i:1"},
            {"name": "side", "image": "i:1", "restartPolicy": "Always"},
        ]);
        let mut changed = after(first.clone(), next(&first, "T1").unwrap());
        let before = changed["status"]["initContainerStatuses"].clone();
        for place in 0..2 {
            changed["spec"]["initContainers"][place]["image"] = "i:2".into();
        }
        let status = next(&changed, "T2").unwrap();
        let statuses = &status["initContainerStatuses"];
        assert_eq!(statuses[0], before[0]);
        assert_eq!(
            (&statuses[1]["image"], &statuses[1]["restartCount"]),
            (&json!("i:2"), &json!(1))
        );
        assert_eq!(next(&after(changed, status), "T3"), None);
    }

    #[test]
    fn containers_without_image_or_with_one_name_are_started_once() {
        let mut odd = pod("a:1");
        odd["spec"]["containers"] = json!([
            {"name": "app"}, {"name": "two", "image": "a:1"}, {"name": "two", "image": "a:2"},
            {"image": "a:3"},
        ]);
        let mut status = next(&odd, "T1").unwrap();
        // As it is stored: an absent name and an empty one are the same.
        status["containerStatuses"][3]["name"] = "".into();
        assert_eq!(next(&after(odd, status), "T2"), None);
    }

    #[test]
    fn containers_that_come_first_have_ended_unless_they_are_sidecars() {
        let mut pod = pod("a:1");
        pod["spec"]["initContainers"] = json!([{"name": "i", "image": "i:1"}, {"name": "s", "image": "s:1", "restartPolicy": "Always"}]);
        let status = next(&pod, "T1").unwrap();
        let statuses = &status["initContainerStatuses"];
        assert_eq!(statuses[0]["state"]["terminated"]["reason"], "Completed");
        assert_eq!(statuses[1]["state"]["running"]["startedAt"], "T1");
    }

    #[test]
    fn a_pod_with_readiness_gates_is_ready_when_they_are_open() {
        let mut gated = pod("a:1");
        gated["spec"]["readinessGates"] = json!([{"conditionType": "ex.io/lb"}]);
        let mut waiting = after(gated.clone(), next(&gated, "T1").unwrap());
        assert_eq!(waiting["status"]["conditions"][2]["status"], "False");
        assert_eq!(next(&waiting, "T2"), None);
        let gate = json!({"type": "ex.io/lb", "status": "True"});
        waiting["status"]["conditions"]
            .as_array_mut()
            .unwrap()
            .push(gate);
        let status = next(&waiting, "T3").unwrap();
        assert_eq!(status["conditions"][2]["status"], "True");
        assert_eq!(status["conditions"][2]["lastTransitionTime"], "T3");
        assert_eq!(status["conditions"][1]["lastTransitionTime"], "T1");
        assert_eq!(next(&after(waiting, status), "T4"), None);
    }

    #[test]
    fn a_pod_of_a_job_succeeds_after_it_ran() {
        let mut of_job = pod("a:1");
        of_job["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "j"}]);
        let ran = after(of_job.clone(), next(&of_job, "T1").unwrap());
        let status = next(&ran, "T2").unwrap();
        assert_eq!(status["phase"], "Succeeded");
        assert_eq!(status["conditions"][2]["reason"], "PodCompleted");
        let state = &status["containerStatuses"][0]["state"];
        assert_eq!(
            (
                &state["terminated"]["startedAt"],
                &state["terminated"]["finishedAt"]
            ),
            (&json!("T1"), &json!("T2"))
        );
        assert_eq!(next(&after(ran, status), "T3"), None);
    }

    #[test]
    fn a_pod_that_has_ended_is_left_alone() {
        let mut ended = pod("a:1");
        ended["status"]["phase"] = "Failed".into();
        assert_eq!(next(&ended, "T1"), None);
    }
}
