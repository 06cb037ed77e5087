use serde_json::{Value, json};

use super::pod_status::generation;
use crate::view::{condition, is_true, items, text};

/// How far the containers of a Pod are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// All run and are ready.
    Ready,
    /// Those that come first have not ended.
    Uninitialized,
    /// The named ones are not ready.
    Unready(Vec<String>),
    /// All have ended, which is the reason that is given.
    Ended(&'static str),
}

impl Readiness {
    /// None of the Pod's containers is ready.
    pub(super) fn unready(pod: &Value) -> Self {
        let containers = items(pod, "/spec/containers").iter();
        Self::Unready(
            containers
                .map(|one| text(one, "/name").to_owned())
                .collect(),
        )
    }
}

/// The order in which a kubelet writes conditions; what it does not write comes after them.
const CONDITIONS: [&str; 4] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
];

/// The conditions of a Pod whose containers are so far; those of others are kept.
pub(super) fn conditions(pod: &Value, readiness: &Readiness, now: &str) -> Vec<Value> {
    let mut conditions: Vec<Value> = CONDITIONS
        .iter()
        .map(|kind| {
            let mut new = said(pod, kind, readiness, now);
            if let Some(old) = condition(pod, kind)
                && old["status"] == new["status"]
            {
                new["lastTransitionTime"] = old["lastTransitionTime"].clone();
            }
            new
        })
        .collect();
    let others = items(pod, "/status/conditions").iter();
    let others = others.filter(|one| !CONDITIONS.contains(&text(one, "/type")));
    conditions.extend(others.cloned());
    if condition(pod, "PodScheduled").is_none() {
        conditions.push(fulfilled(pod, "PodScheduled", now));
    }
    conditions
}

fn said(pod: &Value, kind: &str, readiness: &Readiness, now: &str) -> Value {
    let mut new = fulfilled(pod, kind, now);
    let mut refuse = |reason: &str, message: &str| {
        new["status"] = "False".into();
        new["reason"] = reason.into();
        if !message.is_empty() {
            new["message"] = message.into();
        }
    };
    match (kind, readiness) {
        ("Initialized", Readiness::Uninitialized) => {
            let names = names(items(pod, "/spec/initContainers"));
            let message = format!("containers with incomplete status: [{names}]");
            refuse("ContainersNotInitialized", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Uninitialized) => {
            let names = names(items(pod, "/spec/containers"));
            let message = format!("containers with unready status: [{names}]");
            refuse("ContainersNotReady", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Unready(names)) => {
            let message = format!("containers with unready status: [{}]", names.join(" "));
            refuse("ContainersNotReady", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Ended(reason)) => refuse(reason, ""),
        ("Ready", Readiness::Ready) if !gates_are_open(pod) => refuse(
            "ReadinessGatesNotReady",
            "the status of pod readiness gates is not \"True\"",
        ),
        _ => {}
    }
    new
}

fn names(containers: &[Value]) -> String {
    let names: Vec<_> = containers.iter().map(|one| text(one, "/name")).collect();
    names.join(" ")
}

fn fulfilled(pod: &Value, kind: &str, now: &str) -> Value {
    json!({
        "type": kind,
        "status": "True",
        "observedGeneration": generation(pod),
        "lastProbeTime": null,
        "lastTransitionTime": now,
    })
}

/// Whether everything that others report and that the Pod waits for is true.
pub(super) fn gates_are_open(pod: &Value) -> bool {
    let mut gates = items(pod, "/spec/readinessGates").iter();
    gates.all(|gate| is_true(pod, text(gate, "/conditionType")))
}
