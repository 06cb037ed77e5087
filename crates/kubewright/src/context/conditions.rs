use jiff::Timestamp;
use serde_json::{Value, json};

/// What a condition's time is when nobody has set it; see `condition`.
const UNSET: &str = "1970-01-01T00:00:00Z";

/// When the conditions were found, and in which object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) now: Timestamp,
    /// That of the object which was reconciled; some kinds have none.
    pub(super) generation: Option<i64>,
}

/// Fills in what `condition` leaves open: each condition of `new` that has no time gets the one of
/// `old` while its `status` is the same, else `now`, and one without a generation that of the
/// object whose state it tells.
///
/// Only those conditions are touched that were made anew: what others have put there, or was there
/// before, is not of this generation by being kept.
pub(super) fn complete_conditions(new: &mut Value, old: &Value, seen: Seen) {
    let Some(conditions) = new.get_mut("conditions").and_then(Value::as_array_mut) else {
        return;
    };
    let former = old.get("conditions").and_then(Value::as_array);
    for condition in conditions {
        let time = condition.get("lastTransitionTime").and_then(Value::as_str);
        if time.is_some_and(|time| time != UNSET) {
            continue;
        }
        let mut former = former.into_iter().flatten();
        let former = former.find(|one| one["type"] == condition["type"]);
        if let Some(generation) = seen
            .generation
            .filter(|_| tells_generation(former, condition))
        {
            condition["observedGeneration"] = json!(generation);
        }
        let same = former.filter(|one| one["status"] == condition["status"]);
        let time = match same.and_then(|one| one.get("lastTransitionTime")) {
            Some(time) => time.clone(),
            None => json!(seen.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        };
        condition["lastTransitionTime"] = time;
    }
}

/// Whether the condition is to say of which generation it is, and does not say it yet.
///
/// One that was stored without, and is the same otherwise, may be of a type that has no room for
/// it: it would be written in vain each time.
fn tells_generation(former: Option<&Value>, condition: &Value) -> bool {
    let is_told = |one: &Value| one["observedGeneration"].is_i64();
    let is_same = |one: &Value| {
        let fields = ["status", "reason", "message"];
        fields.iter().all(|field| one[*field] == condition[*field])
    };
    !is_told(condition) && former.is_none_or(|one| is_told(one) || !is_same(one))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Seen, complete_conditions};

    fn seen(now: &str, generation: Option<i64>) -> Seen {
        let now = now.parse().unwrap();
        Seen { now, generation }
    }

    fn settled(old: &str, new: &str, time: &str) -> Value {
        let old = json!({"conditions": [
            {"type": "Ready", "status": old, "lastTransitionTime": "2026-01-01T00:00:00Z"},
        ]});
        let mut new = json!({"conditions": [
            {"type": "Ready", "status": new, "lastTransitionTime": time},
        ]});
        complete_conditions(&mut new, &old, seen("2026-02-02T00:00:00.5Z", None));
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
        let seen = seen("2026-02-02T00:00:00Z", None);
        complete_conditions(&mut new, &Value::Null, seen);
        assert_eq!(
            new["conditions"][0]["lastTransitionTime"],
            "2026-02-02T00:00:00Z"
        );
    }

    #[test]
    fn a_condition_that_is_made_anew_is_of_the_generation_that_was_seen() {
        let unset = "1970-01-01T00:00:00Z";
        let kept = "2026-01-01T00:00:00Z";
        let mut new = json!({"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": unset},
            {"type": "Told", "status": "True", "lastTransitionTime": unset,
             "observedGeneration": 2},
            {"type": "Foreign", "status": "True", "lastTransitionTime": kept},
            {"type": "Kept", "status": "True", "lastTransitionTime": kept,
             "observedGeneration": 3},
        ]});
        let mut old = new.clone();
        old["conditions"][0]["observedGeneration"] = json!(6);
        complete_conditions(&mut new, &old, seen("2026-02-02T00:00:00Z", Some(7)));
        let conditions = new["conditions"].as_array().unwrap();
        let generations: Vec<_> = conditions
            .iter()
            .map(|one| one.get("observedGeneration").and_then(Value::as_i64))
            .collect();
        assert_eq!(generations, [Some(7), Some(2), None, Some(3)]);
    }

    #[test]
    fn a_condition_without_room_for_a_generation_is_not_written_again_for_it() {
        let unset = "1970-01-01T00:00:00Z";
        let condition = |message: &str| {
            json!({"type": "Ready", "status": "True",
            "message": message, "lastTransitionTime": unset})
        };
        let old = json!({"conditions": [condition("2 of 2")]});
        for (message, expected) in [("2 of 2", None), ("3 of 3", Some(7))] {
            let mut new = json!({"conditions": [condition(message)]});
            complete_conditions(&mut new, &old, seen("2026-02-02T00:00:00Z", Some(7)));
            let told = new["conditions"][0].get("observedGeneration");
            assert_eq!(told.and_then(Value::as_i64), expected, "{message}");
        }
    }

    #[test]
    fn a_kind_without_generations_gets_none() {
        let mut new = json!({"conditions": [{"type": "Ready", "status": "True"}]});
        let seen = seen("2026-02-02T00:00:00Z", None);
        complete_conditions(&mut new, &Value::Null, seen);
        assert_eq!(new["conditions"][0].get("observedGeneration"), None);
    }
}
