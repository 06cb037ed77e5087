//! Entries of `status.conditions`.

use serde_json::Value;

use super::fields::{items, text};

/// The condition of the given type.
pub(crate) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    items(object, "/status/conditions")
        .iter()
        .find(|condition| text(condition, "/type") == kind)
}

/// Whether the condition of the given type is true.
pub(crate) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|condition| text(condition, "/status") == "True")
}

/// The object's conditions with `new` in place of the condition of its type, or appended; `None`
/// when that changes nothing.
///
/// The time of the last transition is kept while the status is unchanged.
pub(crate) fn with_condition(object: &Value, mut new: Value) -> Option<Vec<Value>> {
    let kind = text(&new, "/type").to_owned();
    let mut conditions = items(object, "/status/conditions").to_vec();
    let is_of_kind = |condition: &&mut Value| text(condition, "/type") == kind;
    let Some(old) = conditions.iter_mut().find(is_of_kind) else {
        conditions.push(new);
        return Some(conditions);
    };
    if text(old, "/status") == text(&new, "/status") {
        new["lastTransitionTime"] = old["lastTransitionTime"].clone();
    }
    if without_nulls(old) == without_nulls(&new) {
        return None;
    }
    *old = new;
    Some(conditions)
}

/// The fields that are set: the server need not store a null.
fn without_nulls(condition: &Value) -> Vec<(&String, &Value)> {
    let fields = condition.as_object().into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::with_condition;

    fn condition(status: &str, reason: &str, time: &str) -> Value {
        json!({"type": "A", "status": status, "reason": reason, "lastTransitionTime": time})
    }

    #[test]
    fn condition_keeps_its_transition_time_until_its_status_changes() {
        let object = json!({"status": {"conditions": [condition("False", "x", "1")]}});
        let set = |new: Value| with_condition(&object, new);
        assert_eq!(set(condition("False", "x", "2")), None);
        assert_eq!(
            set(condition("False", "y", "2")),
            Some(vec![condition("False", "y", "1")])
        );
        assert_eq!(
            set(condition("True", "x", "2")),
            Some(vec![condition("True", "x", "2")])
        );
        let other = json!({"type": "B", "status": "True"});
        assert_eq!(
            set(other.clone()),
            Some(vec![condition("False", "x", "1"), other])
        );
    }
}
