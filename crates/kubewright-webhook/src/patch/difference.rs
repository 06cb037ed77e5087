//! Comparison of two objects into the operations of a JSON patch.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One operation of a JSON patch (RFC 6902); the three that a difference needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Adds a field, or inserts an item into a list.
    Add {
        /// The JSON pointer.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Removes a field or an item.
    Remove {
        /// The JSON pointer.
        path: String,
    },
    /// Replaces the value of a field or an item.
    Replace {
        /// The JSON pointer.
        path: String,
        /// The new value.
        value: Value,
    },
}

/// The patch that turns `before` into `after`; empty when they are equal.
///
/// Lists are compared from both ends, so that items that were added at the front or at the end do
/// not change the operations for the others.
///
/// ```
/// use kubewright_webhook::patch::difference;
/// use serde_json::json;
///
/// let patch = difference(&json!({"a": [1, 2]}), &json!({"a": [0, 1, 2]}));
/// assert_eq!(
///     serde_json::to_value(patch)?,
///     json!([{"op": "add", "path": "/a/0", "value": 0}])
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn difference(before: &Value, after: &Value) -> Vec<PatchOperation> {
    let mut operations = Vec::new();
    compare(&mut String::new(), before, after, &mut operations);
    operations
}

fn compare(path: &mut String, before: &Value, after: &Value, out: &mut Vec<PatchOperation>) {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => members(path, before, after, out),
        (Value::Array(before), Value::Array(after)) => items(path, before, after, out),
        (before, after) if before == after => {}
        (_, after) => out.push(PatchOperation::Replace {
            path: path.clone(),
            value: after.clone(),
        }),
    }
}

fn members(
    path: &mut String,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    out: &mut Vec<PatchOperation>,
) {
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        within(path, name, |path| {
            out.push(PatchOperation::Remove { path: path.clone() });
        });
    }
    for (name, value) in after {
        within(path, name, |path| match before.get(name) {
            Some(before) => compare(path, before, value, out),
            None => out.push(PatchOperation::Add {
                path: path.clone(),
                value: value.clone(),
            }),
        });
    }
}

fn items(path: &mut String, before: &[Value], after: &[Value], out: &mut Vec<PatchOperation>) {
    let shorter = before.len().min(after.len());
    let head = before
        .iter()
        .zip(after)
        .take_while(|(old, new)| old == new)
        .count();
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(shorter - head)
        .take_while(|(old, new)| old == new)
        .count();
    let changed = before.len() - head - tail;
    let wanted = after.len() - head - tail;
    for position in head..head + changed.min(wanted) {
        within(path, &position.to_string(), |path| {
            compare(path, &before[position], &after[position], out);
        });
    }
    for position in (head + wanted..head + changed).rev() {
        within(path, &position.to_string(), |path| {
            out.push(PatchOperation::Remove { path: path.clone() });
        });
    }
    for (position, value) in after
        .iter()
        .enumerate()
        .take(head + wanted)
        .skip(head + changed)
    {
        within(path, &position.to_string(), |path| {
            out.push(PatchOperation::Add {
                path: path.clone(),
                value: value.clone(),
            });
        });
    }
}

/// Runs `then` with the path extended by one segment.
fn within(path: &mut String, step: &str, then: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    for c in step.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            c => path.push(c),
        }
    }
    then(path);
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
    use serde_json::{Value, json};

    use super::{PatchOperation, difference};

    /// RFC 6902 for the three operations, as simply as possible.
    fn apply(document: &mut Value, operations: &[PatchOperation]) {
        for operation in operations {
            let (path, value) = match operation {
                PatchOperation::Add { path, value } | PatchOperation::Replace { path, value } => {
                    (path, Some(value))
                }
                PatchOperation::Remove { path } => (path, None),
            };
            let Some((parent, escaped)) = path.rsplit_once('/') else {
                *document = value.unwrap().clone();
                continue;
            };
            let last = escaped.replace("~1", "/").replace("~0", "~");
            match (document.pointer_mut(parent).unwrap(), operation) {
                (Value::Object(members), PatchOperation::Remove { .. }) => {
                    members.remove(&last).unwrap();
                }
                (Value::Object(members), _) => {
                    members.insert(last, value.unwrap().clone());
                }
                (Value::Array(items), PatchOperation::Remove { .. }) => {
                    items.remove(last.parse().unwrap());
                }
                (Value::Array(items), PatchOperation::Add { .. }) => {
                    items.insert(last.parse().unwrap(), value.unwrap().clone());
                }
                (Value::Array(items), PatchOperation::Replace { .. }) => {
                    items[last.parse::<usize>().unwrap()] = value.unwrap().clone();
                }
                (other, _) => panic!("{other} has no members"),
            }
        }
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..4).prop_map(Value::from),
            "[ab/~]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[ab/~]{0,2}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn patch_turns_one_object_into_the_other(before in document(), after in document()) {
            let mut patched = before.clone();
            apply(&mut patched, &difference(&before, &after));
            assert_eq!(patched, after);
        }
    }

    #[test]
    fn equal_values_need_no_patch() {
        let value = json!({"a": [1, {"b": null}]});
        assert_eq!(difference(&value, &value), []);
    }

    #[test]
    fn container_added_first_or_last_is_one_operation() {
        let patch_to = |after: Value| {
            let before = json!({"containers": [{"name": "app"}]});
            let patch = difference(&before, &json!({"containers": after}));
            serde_json::to_value(patch).unwrap()
        };
        let sidecar = json!({"name": "log"});
        assert_eq!(
            patch_to(json!([{"name": "log"}, {"name": "app"}])),
            json!([{"op": "add", "path": "/containers/0", "value": sidecar}])
        );
        assert_eq!(
            patch_to(json!([{"name": "app"}, {"name": "log"}])),
            json!([{"op": "add", "path": "/containers/1", "value": sidecar}])
        );
    }
}
