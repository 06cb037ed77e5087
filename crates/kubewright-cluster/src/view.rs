use serde_json::{Value, json};

/// The text at a JSON pointer, empty when there is none.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// The items of the list at a JSON pointer.
pub(super) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

/// The number at a JSON pointer.
pub(super) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// A count as Kubernetes stores it: zero is left out, which null says in a patch.
pub(super) fn unless_zero(count: impl TryInto<i64>) -> Value {
    match count.try_into().unwrap_or_default() {
        0 => Value::Null,
        count => count.into(),
    }
}

/// The condition of the given type in `status.conditions`.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let mut conditions = items(object, "/status/conditions").iter();
    conditions.find(|one| text(one, "/type") == kind)
}

/// Whether the condition of the given type is true.
pub(super) fn is_true(object: &Value, kind: &str) -> bool {
    condition(object, kind).is_some_and(|one| text(one, "/status") == "True")
}

/// The object's conditions with one set in the place of the one of its type, or at the end; none
/// when that changes nothing.
///
/// The time of the last transition is kept while the status stays the same.
pub(super) fn with_condition(object: &Value, mut new: Value) -> Option<Vec<Value>> {
    let kind = text(&new, "/type").to_owned();
    let mut conditions = items(object, "/status/conditions").to_vec();
    let Some(old) = conditions.iter_mut().find(|one| text(one, "/type") == kind) else {
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

/// The members that say something: the server need not store a null.
fn without_nulls(condition: &Value) -> Vec<(&String, &Value)> {
    let members = condition.as_object().into_iter().flatten();
    members.filter(|(_, value)| !value.is_null()).collect()
}

/// A patch of the status that only fits the object as it was read.
pub(super) fn status_patch(object: &Value, status: &Value) -> Value {
    let revision = text(object, "/metadata/resourceVersion");
    json!({"metadata": {"resourceVersion": revision}, "status": status})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::with_condition;

    fn condition(status: &str, reason: &str, time: &str) -> Value {
        json!({"type": "A", "status": status, "reason": reason, "lastTransitionTime": time})
    }

    #[test]
    fn a_condition_keeps_its_time_until_its_status_changes() {
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
