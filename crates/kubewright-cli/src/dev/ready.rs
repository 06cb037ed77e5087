use serde_json::Value;

/// Whether an object has become what its spec asks for, judged by what every well-behaved
/// controller writes: the observed generation and the conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Nothing is missing.
    Ready,
    /// Not yet, and what is missing.
    Waiting(String),
}

impl Readiness {
    /// Judges an object whose kind reports a status, with the Pods that belong to it.
    ///
    /// It is ready when its status says something, speaks of its present generation, has each of
    /// the conditions `Ready` and `Available` that it carries as `True`, and all its Pods are
    /// Ready. An empty status means that no controller has looked at it yet.
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
                return Self::Waiting(format!("generation {observed} of {generation} was seen"));
            }
        }
        if let Some(waiting) = failing_condition(status) {
            return Self::Waiting(waiting);
        }
        Self::of_pods(pods)
    }

    /// Judges an object whose kind reports no status by its Pods alone.
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

/// Whether the Pod's own Ready condition holds.
pub(crate) fn is_ready_pod(pod: &Value) -> bool {
    pod["status"]["conditions"]
        .as_array()
        .is_some_and(|conditions| {
            conditions
                .iter()
                .any(|one| one["type"] == "Ready" && one["status"] == "True")
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
    fn an_object_is_ready_when_status_conditions_and_pods_agree() {
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
    fn each_missing_part_keeps_it_waiting_and_is_named() {
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
            let Readiness::Waiting(why) = Readiness::of(&object, &pods) else {
                panic!("ready: {object}");
            };
            assert!(why.contains(part), "{why}");
        }
    }
}
