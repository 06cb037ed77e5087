//! The conditions of a Pod.

use serde_json::{Value, json};

use crate::framework::{condition, generation, is_true, items, text};

/// The state of a Pod's containers, as its conditions report it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// All containers run and are ready.
    Ready,
    /// The init containers have not completed.
    Uninitialized,
    /// The named containers are not ready.
    Unready(Vec<String>),
    /// All containers have exited, for this reason.
    Ended(&'static str),
}

impl Readiness {
    /// No container of the Pod is ready.
    pub(super) fn unready(pod: &Value) -> Self {
        let containers = items(pod, "/spec/containers").iter();
        Self::Unready(
            containers
                .map(|container| text(container, "/name").to_owned())
                .collect(),
        )
    }
}

/// The conditions that a kubelet writes, in its order.
const KUBELET_CONDITIONS: [&str; 4] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
];

/// The conditions of a Pod. Those that other components have written stay behind the kubelet's.
pub(super) fn conditions(pod: &Value, readiness: &Readiness, now: &str) -> Vec<Value> {
    let mut conditions: Vec<Value> = KUBELET_CONDITIONS
        .iter()
        .map(|kind| {
            let mut new = kubelet_condition(pod, kind, readiness, now);
            if let Some(old) = condition(pod, kind)
                && old["status"] == new["status"]
            {
                new["lastTransitionTime"] = old["lastTransitionTime"].clone();
            }
            new
        })
        .collect();
    let others = items(pod, "/status/conditions")
        .iter()
        .filter(|condition| !KUBELET_CONDITIONS.contains(&text(condition, "/type")));
    conditions.extend(others.cloned());
    if condition(pod, "PodScheduled").is_none() {
        conditions.push(true_condition(pod, "PodScheduled", now));
    }
    conditions
}

fn kubelet_condition(pod: &Value, kind: &str, readiness: &Readiness, now: &str) -> Value {
    let mut new = true_condition(pod, kind, now);
    let mut set_false = |reason: &str, message: &str| {
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
            set_false("ContainersNotInitialized", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Uninitialized) => {
            let names = names(items(pod, "/spec/containers"));
            let message = format!("containers with unready status: [{names}]");
            set_false("ContainersNotReady", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Unready(names)) => {
            let message = format!("containers with unready status: [{}]", names.join(" "));
            set_false("ContainersNotReady", &message);
        }
        ("Ready" | "ContainersReady", Readiness::Ended(reason)) => set_false(reason, ""),
        ("Ready", Readiness::Ready) if !are_gates_open(pod) => set_false(
            "ReadinessGatesNotReady",
            "the status of pod readiness gates is not \"True\"",
        ),
        _ => {}
    }
    new
}

fn names(containers: &[Value]) -> String {
    let names: Vec<_> = containers
        .iter()
        .map(|container| text(container, "/name"))
        .collect();
    names.join(" ")
}

fn true_condition(pod: &Value, kind: &str, now: &str) -> Value {
    json!({
        "type": kind,
        "status": "True",
        "observedGeneration": generation(pod),
        "lastProbeTime": null,
        "lastTransitionTime": now,
    })
}

/// Whether the conditions of all readiness gates are true.
pub(super) fn are_gates_open(pod: &Value) -> bool {
    let mut gates = items(pod, "/spec/readinessGates").iter();
    gates.all(|gate| is_true(pod, text(gate, "/conditionType")))
}
