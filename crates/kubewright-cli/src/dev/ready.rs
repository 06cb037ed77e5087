//! Whether an object is ready.

use serde_json::Value;

/// Whether an object is ready, according to the status that controllers usually write: the observed
/// generation and the conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Ready,
    /// Not ready, with the reason.
    Waiting(String),
}

impl Readiness {
    /// Returns the readiness of an object whose kind has a status, with the Pods that it owns.
    ///
    /// It is ready when its status is not empty and describes the current generation, its conditions
    /// `Ready` and `Available`, if any, are `True`, and all its Pods are ready. An empty status
    /// means that no controller has processed it yet.
    pub(crate) fn of(object: &Value, pods: &[Value]) -> Self {
        let status = &object["status"];
        if status.as_object().is_none_or(serde_json::Map::is_empty) {
            return Self::Waiting("no status yet".to_owned());
        }
        if let Some(observed) = status["observedGeneration"].as_i64() {
            let generation = object["metadata"]["generation"]
                .as_i64()
                .unwrap_or_default();
            if observed < generation {
                return Self::Waiting(format!("generation {observed} of {generation} is observed"));
            }
        }
        if let Some(reason) = failing_condition(status) {
            return Self::Waiting(reason);
        }
        Self::of_pods(pods)
    }

    /// Returns the readiness of an object whose kind has no status: that of its Pods.
    pub(crate) fn of_pods(pods: &[Value]) -> Self {
        let ready = pods.iter().filter(|pod| is_ready_pod(pod)).count();
        if ready < pods.len() {
            return Self::Waiting(format!("{ready} of {} Pods are Ready", pods.len()));
        }
        Self::Ready
    }
}

fn failing_condition(status: &Value) -> Option<String> {
    let conditions = status["conditions"].as_array()?;
    let failing = conditions.iter().find(|condition| {
        matches!(condition["type"].as_str(), Some("Ready" | "Available"))
            && condition["status"] != "True"
    })?;
    let text = |field: &str| failing[field].as_str().unwrap_or_default().to_owned();
    Some(format!(
        "{} is {}: {} {}",
        text("type"),
        text("status"),
        text("reason"),
        text("message")
    ))
}

/// Whether the condition `Ready` of a Pod is `True`.
pub(crate) fn is_ready_pod(pod: &Value) -> bool {
    pod["status"]["conditions"]
        .as_array()
        .is_some_and(|conditions| {
            conditions
                .iter()
                .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Readiness;

    fn pod(ready: &str) -> Value {
        json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}})
    }

    fn object(observed: i64, available: &str) -> Value {
        json!({
            "metadata": {"generation": 2},
            "status": {
                "observedGeneration": observed,
                "conditions": [{"type": "Available", "status": available, "reason": "Starting"}],
            },
        })
    }

    #[test]
    fn object_is_ready_when_status_conditions_and_pods_are_ready() {
        assert_eq!(
            Readiness::of(&object(2, "True"), &[pod("True")]),
            Readiness::Ready
        );
        assert_eq!(
            Readiness::of(&json!({"status": {"phase": "Done"}}), &[]),
            Readiness::Ready
        );
    }

    #[test]
    fn each_reason_for_waiting_is_named() {
        for (object, pods, part) in [
            (object(1, "True"), vec![], "generation 1 of 2"),
            (object(2, "False"), vec![], "Available is False: Starting"),
            (
                object(2, "True"),
                vec![pod("True"), pod("False")],
                "1 of 2 Pods",
            ),
            (json!({"spec": {}}), vec![pod("True")], "no status yet"),
            (json!({"status": {}}), vec![], "no status yet"),
        ] {
            let Readiness::Waiting(reason) = Readiness::of(&object, &pods) else {
                panic!("ready: {object}");
            };
            assert!(reason.contains(part), "{reason}");
        }
    }
}
