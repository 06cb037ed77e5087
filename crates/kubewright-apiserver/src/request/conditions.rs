//! Conditions in the status of objects.

use kubewright_kinds::json::items;
use serde_json::{Value, json};

/// The status of a condition that the server sets.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConditionStatus {
    True,
    False,
}

/// A condition without its time.
pub(super) fn condition(kind: &str, status: ConditionStatus, reason: &str, message: &str) -> Value {
    let status = match status {
        ConditionStatus::True => "True",
        ConditionStatus::False => "False",
    };
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

/// Sets a condition. Its `lastTransitionTime` changes only with its status.
pub(super) fn set_condition(object: &mut Value, mut condition: Value, now: &str) {
    condition["lastTransitionTime"] = json!(now);
    if let Some(known) = condition_mut(object, &condition["type"]) {
        if known["status"] == condition["status"] {
            condition["lastTransitionTime"] = known["lastTransitionTime"].clone();
        }
        *known = condition;
    } else {
        add_condition(object, condition);
    }
}

/// Sets a condition, unless it has this status already.
pub(super) fn transition_condition(object: &mut Value, condition: Value) {
    if let Some(known) = condition_mut(object, &condition["type"]) {
        if known["status"] != condition["status"] {
            *known = condition;
        }
    } else {
        add_condition(object, condition);
    }
}

fn condition_mut<'a>(object: &'a mut Value, kind: &Value) -> Option<&'a mut Value> {
    let conditions = object["status"]["conditions"].as_array_mut();
    let mut known = conditions.into_iter().flatten();
    known.find(|known| known["type"] == *kind)
}

fn add_condition(object: &mut Value, condition: Value) {
    match object["status"]["conditions"].as_array_mut() {
        Some(conditions) => conditions.push(condition),
        None => object["status"]["conditions"] = json!([condition]),
    }
}

/// Whether a condition is true.
pub(super) fn is_condition_true(object: &Value, kind: &str) -> bool {
    items(&object["status"]["conditions"])
        .any(|condition| condition["type"] == kind && condition["status"] == "True")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ConditionStatus, condition, set_condition};

    #[test]
    fn transition_time_changes_only_with_the_status() {
        let mut value = json!({"status": {}});
        set_condition(
            &mut value,
            condition("A", ConditionStatus::True, "r", ""),
            "t1",
        );
        set_condition(
            &mut value,
            condition("A", ConditionStatus::True, "s", ""),
            "t2",
        );
        assert_eq!(value["status"]["conditions"][0]["lastTransitionTime"], "t1");
        assert_eq!(value["status"]["conditions"][0]["reason"], "s");
        set_condition(
            &mut value,
            condition("A", ConditionStatus::False, "s", ""),
            "t3",
        );
        assert_eq!(value["status"]["conditions"][0]["lastTransitionTime"], "t3");
    }
}
