//! The next status of a Pod.

use kubewright_kinds::batch;
use serde_json::{Value, json};

use super::container_status::{self, Exit, completed, initialized, started};
use super::pod_behavior::{crash, fail, held, settled};
use super::pod_conditions::{Readiness, conditions};
use super::pod_context::PodContext;
use super::settings::PodBehavior;
use crate::framework::{generation, items, text};

/// The status that the kubelet reports of a bound Pod; `None` when the Pod has it already.
pub(super) fn next_status(pod: &Value, context: PodContext<'_>) -> Option<Value> {
    let phase = text(pod, "/status/phase");
    match (phase, context.behavior) {
        ("" | "Pending" | "Running", PodBehavior::Fail(reason)) => Some(fail(pod, reason, context)),
        ("" | "Pending", PodBehavior::Hold) => held(pod, context),
        ("" | "Pending", _) => Some(running(pod, context)),
        ("Running", PodBehavior::CrashLoop) => {
            context.may_exit.then(|| crash(pod, Exit::Error, context))
        }
        ("Running", PodBehavior::Complete) if !is_always_restarted(pod) => {
            Some(succeeded(pod, context))
        }
        ("Running", PodBehavior::Complete) => context
            .may_exit
            .then(|| crash(pod, Exit::Completed, context)),
        ("Running", PodBehavior::Normal) if is_of_job(pod) => Some(succeeded(pod, context)),
        ("Running", _) if is_image_changed(pod) => Some(restarted(pod, context)),
        ("Running", _) => settled(pod, context),
        _ => None,
    }
}

fn running(pod: &Value, context: PodContext<'_>) -> Value {
    let containers: Vec<_> = items(pod, "/spec/containers")
        .iter()
        .map(|container| started(pod, container, context.is_ready(), context.now))
        .collect();
    let init_containers: Vec<_> = items(pod, "/spec/initContainers")
        .iter()
        .map(|container| initialized(pod, container, context.now))
        .collect();
    let mut status = context.base_status(pod);
    status["conditions"] = conditions(pod, &context.readiness(pod), context.now).into();
    status["containerStatuses"] = containers.into();
    status["phase"] = "Running".into();
    status["podIP"] = context.pod_address.into();
    status["podIPs"] = json!([{"ip": context.pod_address}]);
    if !init_containers.is_empty() {
        status["initContainerStatuses"] = init_containers.into();
    }
    status
}

/// The status after containers whose image changed were restarted. The others are unchanged.
fn restarted(pod: &Value, context: PodContext<'_>) -> Value {
    let containers =
        items(pod, "/spec/containers").iter().enumerate().map(
            |(index, container)| match status_of(pod, index, container) {
                None => started(pod, container, context.is_ready(), context.now),
                Some(old) if has_image_of(old, container) => old.clone(),
                Some(old) => {
                    let mut new = container_status::restarted(pod, container, old, context.now);
                    new["ready"] = context.is_ready().into();
                    new
                }
            },
        );
    let mut status = json!({
        "containerStatuses": containers.collect::<Vec<_>>(),
        "observedGeneration": generation(pod),
    });
    if changed_sidecars(pod).next().is_some() {
        let init_containers = items(pod, "/status/initContainerStatuses")
            .iter()
            .map(|old| restarted_sidecar(pod, old, context.now));
        status["initContainerStatuses"] = init_containers.collect::<Vec<_>>().into();
    }
    status
}

/// The status of an init container, restarted when it is a sidecar whose image changed.
fn restarted_sidecar(pod: &Value, old: &Value, now: &str) -> Value {
    let mut changed = changed_sidecars(pod);
    match changed.find(|container| text(container, "/name") == text(old, "/name")) {
        Some(container) => container_status::restarted(pod, container, old, now),
        None => old.clone(),
    }
}

/// The sidecars whose image changed. A kubelet restarts them like other containers.
fn changed_sidecars(pod: &Value) -> impl Iterator<Item = &Value> {
    let statuses = items(pod, "/status/initContainerStatuses");
    let init_containers = items(pod, "/spec/initContainers").iter();
    init_containers
        .filter(|container| text(container, "/restartPolicy") == "Always")
        .filter(|container| {
            let mut statuses = statuses.iter();
            let status = statuses.find(|old| text(old, "/name") == text(container, "/name"));
            status.is_some_and(|old| !has_image_of(old, container))
        })
}

/// The status of a Pod whose containers have exited with code 0.
fn succeeded(pod: &Value, context: PodContext<'_>) -> Value {
    let containers: Vec<_> = items(pod, "/status/containerStatuses")
        .iter()
        .map(|container| completed(container, context.now))
        .collect();
    let ended = Readiness::Ended("PodCompleted");
    json!({
        "conditions": conditions(pod, &ended, context.now),
        "containerStatuses": containers,
        "observedGeneration": generation(pod),
        "phase": "Succeeded",
    })
}

fn is_of_job(pod: &Value) -> bool {
    let mut owners = items(pod, "/metadata/ownerReferences").iter();
    owners.any(|owner| text(owner, "/kind") == batch::JOB.kind)
}

/// Whether containers are restarted whatever they exited with.
fn is_always_restarted(pod: &Value) -> bool {
    matches!(text(pod, "/spec/restartPolicy"), "" | "Always")
}

fn is_image_changed(pod: &Value) -> bool {
    let mut containers = items(pod, "/spec/containers").iter().enumerate();
    containers.any(|(index, container)| {
        let status = status_of(pod, index, container);
        status.is_none_or(|old| !has_image_of(old, container))
    }) || changed_sidecars(pod).next().is_some()
}

/// Whether a status has the image of its container. An absent image equals an empty one.
fn has_image_of(status: &Value, container: &Value) -> bool {
    text(status, "/image") == text(container, "/image")
}

/// The status of a container: the entry at its index first, because names may be equal.
fn status_of<'a>(pod: &'a Value, index: usize, container: &Value) -> Option<&'a Value> {
    let statuses = items(pod, "/status/containerStatuses");
    let is_of = |status: &&Value| text(status, "/name") == text(container, "/name");
    let at_index = statuses.get(index).filter(is_of);
    at_index.or_else(|| statuses.iter().find(is_of))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::test_pod::{next, pod, with_status};

    #[test]
    fn pending_pod_runs_with_the_conditions_of_a_kubelet() {
        let status = next(&pod("a:1"), "T1").unwrap();
        let kinds: Vec<_> = status["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|condition| &condition["type"])
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
        assert_eq!(next(&with_status(pod("a:1"), status), "T2"), None);
    }

    #[test]
    fn changed_image_restarts_only_its_container() {
        let first = with_status(pod("a:1"), next(&pod("a:1"), "T1").unwrap());
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
        assert_eq!(next(&with_status(changed, status), "T3"), None);
    }

    #[test]
    fn changed_image_restarts_a_sidecar() {
        let mut first = pod("a:1");
        first["spec"]["initContainers"] = json!([
            {"name": "once", "image": "i:1"},
            {"name": "side", "image": "i:1", "restartPolicy": "Always"},
        ]);
        let mut changed = with_status(first.clone(), next(&first, "T1").unwrap());
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
        assert_eq!(next(&with_status(changed, status), "T3"), None);
    }

    #[test]
    fn containers_without_image_or_with_equal_names_are_started_once() {
        let mut odd = pod("a:1");
        odd["spec"]["containers"] = json!([
            {"name": "app"}, {"name": "two", "image": "a:1"}, {"name": "two", "image": "a:2"},
            {"image": "a:3"},
        ]);
        let mut status = next(&odd, "T1").unwrap();
        // An absent name is stored as an empty one.
        status["containerStatuses"][3]["name"] = "".into();
        assert_eq!(next(&with_status(odd, status), "T2"), None);
    }

    #[test]
    fn init_containers_have_completed_unless_they_are_sidecars() {
        let mut pod = pod("a:1");
        pod["spec"]["initContainers"] = json!([{"name": "i", "image": "i:1"}, {"name": "s", "image": "s:1", "restartPolicy": "Always"}]);
        let status = next(&pod, "T1").unwrap();
        let statuses = &status["initContainerStatuses"];
        assert_eq!(statuses[0]["state"]["terminated"]["reason"], "Completed");
        assert_eq!(statuses[1]["state"]["running"]["startedAt"], "T1");
    }

    #[test]
    fn pod_with_readiness_gates_is_ready_when_they_are_true() {
        let mut gated = pod("a:1");
        gated["spec"]["readinessGates"] = json!([{"conditionType": "ex.io/lb"}]);
        let mut waiting = with_status(gated.clone(), next(&gated, "T1").unwrap());
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
        assert_eq!(next(&with_status(waiting, status), "T4"), None);
    }

    #[test]
    fn pod_of_a_job_succeeds_after_it_ran() {
        let mut of_job = pod("a:1");
        of_job["metadata"]["ownerReferences"] = json!([{"kind": "Job", "name": "j"}]);
        let ran = with_status(of_job.clone(), next(&of_job, "T1").unwrap());
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
        assert_eq!(next(&with_status(ran, status), "T3"), None);
    }

    #[test]
    fn ended_pod_is_not_changed() {
        let mut ended = pod("a:1");
        ended["status"]["phase"] = "Failed".into();
        assert_eq!(next(&ended, "T1"), None);
    }
}
