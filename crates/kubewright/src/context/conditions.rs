//! Completes the conditions of a status: transition times and observed generations.

use jiff::Timestamp;
use serde_json::{Value, json};

/// The transition time of a condition that [`condition`](crate::condition()) returns.
const UNSET: &str = "1970-01-01T00:00:00Z";

/// When and of which object the conditions were observed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation {
    pub(super) now: Timestamp,
    /// The generation of the reconciled object; some kinds have none.
    pub(super) generation: Option<i64>,
}

/// Sets the fields that [`condition`](crate::condition()) leaves open. A condition of `new` without
/// a transition time gets that of `old` if its `status` is the same, else `now`. One without an
/// observed generation gets that of the reconciled object.
///
/// Conditions that have a time are left alone: other controllers set them, or they are copies of
/// older ones, and so they do not describe this generation.
pub(super) fn complete_conditions(new: &mut Value, old: &Value, observation: Observation) {
    let Some(conditions) = new.get_mut("conditions").and_then(Value::as_array_mut) else {
        return;
    };
    let old_conditions = old.get("conditions").and_then(Value::as_array);
    for condition in conditions {
        let time = condition.get("lastTransitionTime").and_then(Value::as_str);
        if time.is_some_and(|time| time != UNSET) {
            continue;
        }
        let previous = old_conditions
            .into_iter()
            .flatten()
            .find(|old| old["type"] == condition["type"]);
        if let Some(generation) = observation
            .generation
            .filter(|_| needs_generation(previous, condition))
        {
            condition["observedGeneration"] = json!(generation);
        }
        let unchanged = previous.filter(|previous| previous["status"] == condition["status"]);
        let time = match unchanged.and_then(|previous| previous.get("lastTransitionTime")) {
            Some(time) => time.clone(),
            None => json!(observation.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        };
        condition["lastTransitionTime"] = time;
    }
}

/// Whether the condition lacks an observed generation and should have one.
///
/// A condition that was stored without one and is the same otherwise may be of a kind whose schema
/// has no such field. The API server would drop it, and each reconcile would write it again.
fn needs_generation(previous: Option<&Value>, condition: &Value) -> bool {
    let has_generation = |condition: &Value| condition["observedGeneration"].is_i64();
    let is_same = |previous: &Value| {
        let fields = ["status", "reason", "message"];
        fields
            .iter()
            .all(|field| previous[*field] == condition[*field])
    };
    !has_generation(condition)
        && previous.is_none_or(|previous| has_generation(previous) || !is_same(previous))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Observation, complete_conditions};

    fn observation(now: &str, generation: Option<i64>) -> Observation {
        let now = now.parse().unwrap();
        Observation { now, generation }
    }

    /// Returns the transition time of a condition after it is completed.
    fn completed_time(old: &str, new: &str, time: &str) -> Value {
        let old = json!({"conditions": [
            {"type": "Ready", "status": old, "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]});
        let mut new = json!({"conditions": [
            {"type": "Ready", "status": new, "lastTransitionTime": time},
        ]});
        complete_conditions(&mut new, &old, observation("2026-02-02T00:00:00.5Z", None));
        new["conditions"][0]["lastTransitionTime"].clone()
    }

    #[test]
    fn transition_time_changes_only_with_the_status() {
        let unset = "1970-01-01T00:00:00Z";
        assert_eq!(
            completed_time("True", "True", unset),
            "2026-01-01T00:00:00Z"
        );
        assert_eq!(
            completed_time("True", "False", unset),
            "2026-02-02T00:00:00Z"
        );
        let given = "2025-05-05T00:00:00Z";
        assert_eq!(completed_time("True", "False", given), given);
    }

    #[test]
    fn new_condition_has_the_current_time() {
        let mut new = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let observation = observation("2026-02-02T00:00:00Z", None);
        complete_conditions(&mut new, &Value::Null, observation);
        assert_eq!(
            new["conditions"][0]["lastTransitionTime"],
            "2026-02-02T00:00:00Z"
        );
    }

    #[test]
    fn condition_without_a_time_gets_the_observed_generation() {
        let unset = "1970-01-01T00:00:00Z";
        let stored = "2026-01-01T00:00:00Z";
        let mut new = json!({"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": unset},
            {"type": "Explicit", "status": "True", "lastTransitionTime": unset,
             "observedGeneration": 2},
            {"type": "Foreign", "status": "True", "lastTransitionTime": stored},
            {"type": "Copied", "status": "True", "lastTransitionTime": stored,
             "observedGeneration": 3},
        ]});
        let mut old = new.clone();
        old["conditions"][0]["observedGeneration"] = json!(6);
        complete_conditions(&mut new, &old, observation("2026-02-02T00:00:00Z", Some(7)));
        let conditions = new["conditions"].as_array().unwrap();
        let generations: Vec<_> = conditions
            .iter()
            .map(|condition| condition.get("observedGeneration").and_then(Value::as_i64))
            .collect();
        assert_eq!(generations, [Some(7), Some(2), None, Some(3)]);
    }

    #[test]
    fn condition_stored_without_a_generation_is_not_written_again_for_it() {
        let unset = "1970-01-01T00:00:00Z";
        let condition = |message: &str| {
            json!({"type": "Ready", "status": "True",
            "message": message, "lastTransitionTime": unset})
        };
        let old = json!({"conditions": [condition("2 of 2")]});
        for (message, expected) in [("2 of 2", None), ("3 of 3", Some(7))] {
            let mut new = json!({"conditions": [condition(message)]});
            complete_conditions(&mut new, &old, observation("2026-02-02T00:00:00Z", Some(7)));
            let generation = new["conditions"][0].get("observedGeneration");
            assert_eq!(generation.and_then(Value::as_i64), expected, "{message}");
        }
    }

    #[test]
    fn kind_without_generations_gets_no_observed_generation() {
        let mut new = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let observation = observation("2026-02-02T00:00:00Z", None);
        complete_conditions(&mut new, &Value::Null, observation);
        assert_eq!(new["conditions"][0].get("observedGeneration"), None);
    }
}
