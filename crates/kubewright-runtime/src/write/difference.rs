//! Computes merge patches.

use serde_json::{Map, Value};

use super::intent::without_nulls;

/// Returns the merge patch (RFC 7386) from `old` to `new`, or `None` when they are equal. A null
/// member is the same as an absent one.
pub(super) fn difference(old: &Value, new: &Value) -> Option<Value> {
    let members = |value: &Value| match without_nulls(value.clone()) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let patch = member_difference(&members(old), members(new));
    (!patch.is_empty()).then_some(Value::Object(patch))
}

fn member_difference(old: &Map<String, Value>, new: Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in new {
        match (old.get(&name), value) {
            (Some(former), value) if *former == value => {}
            (Some(Value::Object(former)), Value::Object(members)) => {
                let inner = member_difference(former, members);
                patch.insert(name, Value::Object(inner));
            }
            (_, value) => {
                patch.insert(name, value);
            }
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use kubewright_wire::patch::merge;
    use serde_json::{Value, json};

    use super::difference;

    #[test]
    fn patch_contains_the_differences_only() {
        let old = json!({"a": 1, "gone": 2, "in": {"x": 1, "y": 2}, "list": [1], "same": [{}]});
        let new = json!({"a": 3, "in": {"x": 1, "z": null}, "list": [1, 2], "same": [{}], "n": {}});
        let patch = difference(&old, &new).unwrap();
        assert_eq!(
            patch,
            json!({"a": 3, "gone": null, "in": {"y": null}, "list": [1, 2], "n": {}})
        );
        let mut patched = json!({"a": 1, "gone": 2, "in": {"x": 1, "y": 2}, "foreign": true});
        merge(&mut patched, &patch);
        assert_eq!(
            patched,
            json!({"a": 3, "in": {"x": 1}, "list": [1, 2], "n": {}, "foreign": true})
        );
    }

    #[test]
    fn equal_statuses_need_no_patch() {
        assert_eq!(
            difference(&json!({"a": 1}), &json!({"a": 1, "b": null})),
            None
        );
        assert_eq!(difference(&Value::Null, &json!({})), None);
        let first = json!({"a": 0});
        assert_eq!(difference(&Value::Null, &first), Some(first));
    }
}
