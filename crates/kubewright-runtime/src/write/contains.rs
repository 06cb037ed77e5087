use kubewright_wire::record::Node;
use serde_json::{Number, Value};

/// Whether every value of `intent` is found in `node`, which may hold more.
///
/// Lists are compared without knowing their keys: each element must be found somewhere. That is
/// enough beside an unchanged field set, because whoever reorders or replaces an element takes
/// its fields away from us.
pub(super) fn contains(node: Node<'_>, intent: &Value) -> bool {
    match intent {
        Value::Null => true,
        Value::Bool(wanted) => node.as_bool() == Some(*wanted),
        Value::Number(wanted) => number_equals(node, wanted),
        Value::String(wanted) => node.as_text() == Some(wanted.as_str()),
        Value::Array(wanted) => node.as_array().is_some_and(|elements| {
            wanted
                .iter()
                .all(|one| elements.into_iter().any(|element| contains(element, one)))
        }),
        Value::Object(wanted) => node.as_object().is_some_and(|object| {
            wanted.iter().all(|(name, value)| {
                object.field(name).map_or_else(
                    || value.as_array().is_some_and(Vec::is_empty),
                    |found| contains(found, value),
                )
            })
        }),
    }
}

fn number_equals(node: Node<'_>, wanted: &Number) -> bool {
    match node {
        Node::Unsigned(found) => wanted.as_u64() == Some(found),
        Node::Negative(found) => wanted.as_i64() == Some(found),
        Node::Float(found) => wanted.as_f64() == Some(found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_wire::record::{Node, Record};
    use serde_json::{Value, json};

    use super::contains;

    fn holds(found: Value, intent: Value) -> bool {
        let record = Record::from_value(&found).unwrap();
        contains(Node::Object(record.root()), &intent)
    }

    #[test]
    fn more_may_be_there_than_is_wanted() {
        let found =
            json!({"a": 1, "b": {"c": "x", "d": true}, "l": [{"n": "p", "v": 1}, {"n": "q"}]});
        assert!(holds(found.clone(), json!({"b": {"c": "x"}})));
        assert!(holds(found.clone(), json!({"l": [{"n": "q"}]})));
        assert!(holds(found.clone(), json!({"l": [], "m": []})));
        assert!(holds(found, json!({})));
    }

    #[test]
    fn what_is_wanted_must_be_there_as_it_is_wanted() {
        let found = json!({"a": 1, "n": -3, "f": 0.5, "b": {"c": "x"}, "l": [{"n": "p", "v": 1}]});
        for intent in [
            json!({"a": 2}),
            json!({"a": "1"}),
            json!({"n": 3}),
            json!({"f": 0.25}),
            json!({"b": {"c": "y"}}),
            json!({"b": {"d": "x"}}),
            json!({"b": []}),
            json!({"l": [{"n": "p", "v": 2}]}),
            json!({"z": {}}),
        ] {
            assert!(!holds(found.clone(), intent.clone()), "{intent}");
        }
        assert!(holds(found.clone(), json!({"a": 1, "n": -3, "f": 0.5})));
    }
}
