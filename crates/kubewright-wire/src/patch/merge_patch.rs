//! JSON merge patches (RFC 7386).

use serde_json::{Map, Value};

/// Applies a JSON merge patch (RFC 7386): objects are merged, `null` removes, all else replaces.
///
/// ```
/// use kubewright_wire::patch::merge;
/// use serde_json::json;
///
/// let mut object = json!({"data": {"a": "1", "b": "2"}, "list": [1, 2]});
/// merge(&mut object, &json!({"data": {"a": null, "c": "3"}, "list": [3]}));
/// assert_eq!(object, json!({"data": {"b": "2", "c": "3"}, "list": [3]}));
/// ```
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, change) in changes {
        match change {
            Value::Null => {
                fields.remove(name);
            }
            change => merge(fields.entry(name.as_str()).or_insert(Value::Null), change),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::merge;

    #[test]
    fn examples_of_the_rfc_give_their_results() {
        // RFC 7386, appendix A.
        let cases: Vec<(Value, Value, Value)> = vec![
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b"}),
                json!({"b": "c"}),
                json!({"a": "b", "b": "c"}),
            ),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (
                json!({"a": "b", "b": "c"}),
                json!({"a": null}),
                json!({"b": "c"}),
            ),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({"a": [{"b": "c"}]}),
                json!({"a": [1]}),
                json!({"a": [1]}),
            ),
            (json!(["a", "b"]), json!(["c", "d"]), json!(["c", "d"])),
            (json!({"a": "b"}), json!(["c"]), json!(["c"])),
            (json!({"a": "foo"}), json!(null), json!(null)),
            (json!({"a": "foo"}), json!("bar"), json!("bar")),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
            (
                json!([1, 2]),
                json!({"a": "b", "c": null}),
                json!({"a": "b"}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
        ];
        for (mut target, patch, expected) in cases {
            merge(&mut target, &patch);
            assert_eq!(target, expected, "{patch}");
        }
    }
}
