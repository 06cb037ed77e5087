use jiff::Timestamp;
use serde_json::{Value, json};

/// What a condition's time is when nobody has set it; see `condition`.
const UNSET: &str = "1970-01-01T00:00:00Z";

/// Gives each condition of `new` that has no time the one of `old` while its `status` is the same,
/// else `now`.
pub(super) fn keep_transition_times(new: &mut Value, old: &Value, now: Timestamp) {
    let Some(conditions) = new.get_mut("conditions").and_then(Value::as_array_mut) else {
        return;
    };
    let former = old.get("conditions").and_then(Value::as_array);
    for condition in conditions {
        let time = condition.get("lastTransitionTime").and_then(Value::as_str);
        if time.is_some_and(|time| time != UNSET) {
            continue;
        }
        let same = former
            .into_iter()
            .flatten()
            .find(|one| one["type"] == condition["type"] && one["status"] == condition["status"]);
        let time = match same.and_then(|one| one.get("lastTransitionTime")) {
            Some(time) => time.clone(),
            None => json!(now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        };
        condition["lastTransitionTime"] = time;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::keep_transition_times;

    fn settled(old: &str, new: &str, time: &str) -> Value {
        let old = json!({"conditions": [
            {"type": "Ready", "status": old, "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]});
        let mut new = json!({"conditions": [
            {"type": "Ready", "status": new, "lastTransitionTime": time},
        ]});
        let now = "2026-02-02T00:00:00.5Z".parse().unwrap();
        keep_transition_times(&mut new, &old, now);
        new["conditions"][0]["lastTransitionTime"].clone()
    }

    #[test]
    fn the_time_moves_only_when_the_status_does() {
        let unset = "1970-01-01T00:00:00Z";
        assert_eq!(settled("True", "True", unset), "2026-01-01T00:00:00Z");
        assert_eq!(settled("True", "False", unset), "2026-02-02T00:00:00Z");
        let given = "2025-05-05T00:00:00Z";
        assert_eq!(settled("True", "False", given), given);
    }

    #[test]
    fn a_first_condition_begins_now() {
        let mut new = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let now = "2026-02-02T00:00:00Z".parse().unwrap();
        keep_transition_times(&mut new, &Value::Null, now);
        assert_eq!(
            new["conditions"][0]["lastTransitionTime"],
            "2026-02-02T00:00:00Z"
        );
    }
}
