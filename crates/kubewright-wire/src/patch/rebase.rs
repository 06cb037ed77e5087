//! Transfer of changes from a typed object to the raw object.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

/// Applies to `raw` the changes from `before` to `after`, where `before` is `raw` as a type of the
/// program serializes it.
///
/// Fields that the type does not have are only in `raw`, and stay. List items are identified by
/// their `name`, or else by their content, so that they may be moved.
///
/// ```
/// use kubewright_wire::patch::rebase;
/// use serde_json::json;
///
/// let raw = json!({"image": "a", "newer": 1});
/// let rebased = rebase(&raw, &json!({"image": "a"}), &json!({"image": "b"}));
/// assert_eq!(rebased, json!({"image": "b", "newer": 1}));
/// ```
pub fn rebase(raw: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return raw.clone();
    }
    match (raw, before, after) {
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => {
            Value::Object(members(raw, before, after))
        }
        (Value::Array(raw), Value::Array(before), Value::Array(after))
            if raw.len() == before.len() =>
        {
            Value::Array(items(raw, before, after))
        }
        (_, _, after) => after.clone(),
    }
}

fn members(
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let is_kept = |name: &String| !before.contains_key(name) || after.contains_key(name);
    let mut rebased = raw.clone();
    rebased.retain(|name, _| is_kept(name));
    for (name, new) in after {
        match before.get(name) {
            // A type may serialize a field that was absent.
            Some(old) if old == new => {}
            Some(old) => {
                let value = rebase(raw.get(name).unwrap_or(&Value::Null), old, new);
                rebased.insert(name.clone(), value);
            }
            None => {
                rebased.insert(name.clone(), new.clone());
            }
        }
    }
    rebased
}

fn items(raw: &[Value], before: &[Value], after: &[Value]) -> Vec<Value> {
    let mut indexes: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (index, item) in before.iter().enumerate() {
        indexes.entry(identity(item)).or_default().push_back(index);
    }
    let mut origins: Vec<Option<usize>> = after
        .iter()
        .map(|item| indexes.get_mut(&identity(item))?.pop_front())
        .collect();
    // The other items were changed at their index, or are new.
    let mut used = vec![false; before.len()];
    for origin in origins.iter().flatten() {
        used[*origin] = true;
    }
    for (index, origin) in origins.iter_mut().enumerate() {
        if origin.is_none() && used.get(index) == Some(&false) && is_same_item(before, after, index)
        {
            *origin = Some(index);
        }
    }
    after
        .iter()
        .zip(origins)
        .map(|(item, origin)| match origin {
            Some(origin) => rebase(&raw[origin], &before[origin], item),
            None => item.clone(),
        })
        .collect()
}

/// Whether the items at an index have equal names, or none.
fn is_same_item(before: &[Value], after: &[Value], index: usize) -> bool {
    let name = |items: &[Value]| items.get(index).and_then(|item| item.get("name")).cloned();
    name(before) == name(after)
}

fn identity(item: &Value) -> String {
    match item.get("name").and_then(Value::as_str) {
        Some(name) => format!("name {name}"),
        None => item.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::rebase;

    /// The value as a type with only `name`, `image` and `list` serializes it.
    fn known(raw: &Value) -> Value {
        match raw {
            Value::Object(members) => members
                .iter()
                .filter(|(name, _)| ["name", "image", "list"].contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), known(value)))
                .collect(),
            Value::Array(items) => items.iter().map(known).collect(),
            other => other.clone(),
        }
    }

    #[test]
    fn unknown_fields_survive_every_change() {
        let raw = json!({
            "image": "a", "x": 1,
            "list": [{"name": "one", "image": "i", "x": 2}, {"name": "two", "x": 3}],
        });
        for (after, expected) in [
            (
                json!({"image": "b", "list": [{"name": "one", "image": "i"}, {"name": "two"}]}),
                json!({"image": "b", "x": 1, "list": raw["list"]}),
            ),
            (
                json!({"list": [{"name": "new"}, {"name": "two", "image": "j"}, {"name": "one", "image": "i"}]}),
                json!({"x": 1, "list": [{"name": "new"}, {"name": "two", "image": "j", "x": 3},
                    {"name": "one", "image": "i", "x": 2}]}),
            ),
            (
                json!({"image": "a", "list": [{"name": "two"}]}),
                json!({"image": "a", "x": 1, "list": [{"name": "two", "x": 3}]}),
            ),
        ] {
            assert_eq!(rebase(&raw, &known(&raw), &after), expected);
        }
    }

    #[test]
    fn items_without_names_are_matched_by_index() {
        let raw = json!([{"image": "a", "x": 1}, {"image": "b", "x": 2}]);
        let after = json!([{"image": "a"}, {"image": "c"}]);
        assert_eq!(
            rebase(&raw, &known(&raw), &after),
            json!([{"image": "a", "x": 1}, {"image": "c", "x": 2}])
        );
    }

    #[test]
    fn default_that_the_type_serializes_is_not_a_change() {
        let raw = json!({"image": "a"});
        let before = json!({"image": "a", "list": []});
        let after = json!({"image": "b", "list": []});
        assert_eq!(rebase(&raw, &before, &after), json!({"image": "b"}));
    }
}
