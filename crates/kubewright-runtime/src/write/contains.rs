//! Compares an intent with an object.

use kubewright_wire::record::Node;
use serde_json::{Number, Value};

/// Whether `node` contains every value of `intent`. It can contain others as well.
///
/// Lists are compared without their keys: each element must be found at some index. That is enough
/// beside an unchanged field set, because a writer that reorders or replaces an element takes
/// ownership of its fields.
pub(super) fn contains(node: Node<'_>, intent: &Value) -> bool {
    match intent {
        Value::Null => true,
        Value::Bool(expected) => node.as_bool() == Some(*expected),
        Value::Number(expected) => number_equals(node, expected),
        Value::String(expected) => node.as_text() == Some(expected.as_str()),
        Value::Array(expected) => node.as_array().is_some_and(|elements| {
            expected
                .iter()
                .all(|value| elements.into_iter().any(|element| contains(element, value)))
        }),
        Value::Object(expected) => node.as_object().is_some_and(|object| {
            expected.iter().all(|(name, value)| {
                object.field(name).map_or_else(
                    || value.as_array().is_some_and(Vec::is_empty),
                    |found| contains(found, value),
                )
            })
        }),
    }
}

fn number_equals(node: Node<'_>, expected: &Number) -> bool {
    match node {
        Node::Unsigned(found) => expected.as_u64() == Some(found),
        Node::Negative(found) => expected.as_i64() == Some(found),
        Node::Float(found) => expected.as_f64() == Some(found),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_wire::record::{Node, Record};
    use serde_json::{Value, json};

    use super::contains;

    fn is_contained(found: Value, intent: Value) -> bool {
        let record = Record::from_value(&found).unwrap();
        contains(Node::Object(record.root()), &intent)
    }

    #[test]
    fn object_with_more_fields_contains_the_intent() {
        let found =
            json!({"a": 1, "b": {"c": "x", "d": true}, "l": [{"n": "p", "v": 1}, {"n": "q"}]});
        assert!(is_contained(found.clone(), json!({"b": {"c": "x"}})));
        assert!(is_contained(found.clone(), json!({"l": [{"n": "q"}]})));
        assert!(is_contained(found.clone(), json!({"l": [], "m": []})));
        assert!(is_contained(found, json!({})));
    }

    #[test]
    fn object_with_other_values_does_not_contain_the_intent() {
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
            assert!(!is_contained(found.clone(), intent.clone()), "{intent}");
        }
        assert!(is_contained(
            found.clone(),
            json!({"a": 1, "n": -3, "f": 0.5})
        ));
    }
}
