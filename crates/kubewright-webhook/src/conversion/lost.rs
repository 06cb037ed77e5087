//! Values that a conversion loses: found by a round trip, and restored later.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A value that a round trip through another version changed. It is stored as JSON in an annotation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostValue {
    /// Where the value is.
    pub path: Vec<Segment>,
    /// The value after the round trip; `None` when it was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Value>,
    /// The value before the round trip; `None` when it was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Segment {
    /// A field of an object.
    Field(String),
    /// An item of a list whose items have names.
    Item {
        /// The item's name.
        name: String,
    },
}

/// The values that differ between `before` and `after`; null equals absent.
///
/// Lists whose items have equal names in equal order are compared item by item, other lists as a
/// whole: an index identifies no item once the list has been changed.
///
/// ```
/// use kubewright_webhook::conversion::{lost, restore};
/// use serde_json::json;
///
/// let before = json!({"spec": {"image": "a", "extra": 1}});
/// let after = json!({"spec": {"image": "a"}});
/// let values = lost(&before, &after);
/// let mut later = json!({"spec": {"image": "b"}});
/// restore(&mut later, &values);
/// assert_eq!(later, json!({"spec": {"image": "b", "extra": 1}}));
/// ```
pub fn lost(before: &Value, after: &Value) -> Vec<LostValue> {
    let mut values = Vec::new();
    compare(before, after, &mut Vec::new(), &mut values);
    values
}

fn compare(before: &Value, after: &Value, path: &mut Vec<Segment>, out: &mut Vec<LostValue>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            compare_fields(before, after, path, out);
        }
        (Value::Array(before), Value::Array(after)) if have_same_names(before, after) => {
            for (before, after) in before.iter().zip(after) {
                let name = name_of(before).unwrap_or_default().to_owned();
                path.push(Segment::Item { name });
                compare(before, after, path, out);
                path.pop();
            }
        }
        (before, after) => out.push(LostValue {
            path: path.clone(),
            was: present(after),
            value: present(before),
        }),
    }
}

fn compare_fields(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &mut Vec<Segment>,
    out: &mut Vec<LostValue>,
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (before, after) = (
            before.get(name).unwrap_or(&Value::Null),
            after.get(name).unwrap_or(&Value::Null),
        );
        path.push(Segment::Field(name.clone()));
        compare(before, after, path, out);
        path.pop();
    }
}

fn present(value: &Value) -> Option<Value> {
    Some(value.clone()).filter(|value| !value.is_null())
}

fn name_of(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// Whether each item has a unique name, and both lists have these names in the same order.
fn have_same_names(before: &[Value], after: &[Value]) -> bool {
    let Some(names) = before.iter().map(name_of).collect::<Option<Vec<&str>>>() else {
        return false;
    };
    let distinct: BTreeSet<&str> = names.iter().copied().collect();
    let others: Option<Vec<&str>> = after.iter().map(name_of).collect();
    distinct.len() == names.len() && others == Some(names)
}

/// Restores lost values, unless the field was changed after the conversion.
pub fn restore(object: &mut Value, values: &[LostValue]) {
    for value in values {
        // `None` means that the path is gone, because the object was changed.
        restore_value(object, value);
    }
}

fn restore_value(object: &mut Value, lost: &LostValue) -> Option<()> {
    let (last, parents) = lost.path.split_last()?;
    let mut place = object;
    for segment in parents {
        place = match segment {
            Segment::Field(name) => place.get_mut(name)?,
            Segment::Item { name } => named_item(place, name)?,
        };
    }
    match last {
        Segment::Field(name) => {
            let fields = place.as_object_mut()?;
            let now = fields.get(name).filter(|value| !value.is_null());
            if now != lost.was.as_ref() {
                return None;
            }
            match &lost.value {
                Some(value) => fields.insert(name.clone(), value.clone()),
                None => fields.remove(name),
            };
        }
        Segment::Item { name } => {
            let item = named_item(place, name)?;
            if Some(&*item) == lost.was.as_ref() {
                *item = lost.value.clone()?;
            }
        }
    }
    Some(())
}

fn named_item<'a>(list: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let mut items = list.as_array_mut()?.iter_mut();
    items.find(|item| name_of(item) == Some(name))
}

/// Adds to `known`, an object as its type serializes it, the fields of `raw` that the type does not
/// have.
pub fn with_unknown(known: &Value, raw: &Value) -> Value {
    match (known, raw) {
        (Value::Object(known), Value::Object(raw)) => {
            let mut merged = known.clone();
            for (name, value) in raw {
                match known.get(name) {
                    Some(known) => {
                        merged.insert(name.clone(), with_unknown(known, value));
                    }
                    // A type may omit empty fields.
                    None if is_empty(value) => {}
                    None => {
                        merged.insert(name.clone(), value.clone());
                    }
                }
            }
            Value::Object(merged)
        }
        (Value::Array(known), Value::Array(raw)) if known.len() == raw.len() => {
            let items = known.iter().zip(raw);
            Value::Array(items.map(|(known, raw)| with_unknown(known, raw)).collect())
        }
        _ => known.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{lost, restore, with_unknown};

    fn restored(before: &Value, after: &Value, mut later: Value) -> Value {
        restore(&mut later, &lost(before, after));
        later
    }

    #[test]
    fn lost_values_are_restored_and_later_changes_stay() {
        let before = json!({"mode": "Slow", "size": 3, "text": "x"});
        let after = json!({"mode": "slow", "size": 3, "note": "new"});
        assert_eq!(restored(&before, &after, after.clone()), before);
        let edited = json!({"mode": "fast", "size": 4, "note": "other"});
        assert_eq!(
            restored(&before, &after, edited),
            json!({"mode": "fast", "size": 4, "note": "other", "text": "x"})
        );
    }

    #[test]
    fn named_items_are_restored_after_they_were_moved() {
        let before = json!({"jobs": [{"name": "a", "extra": 1}, {"name": "b"}]});
        let after = json!({"jobs": [{"name": "a"}, {"name": "b"}]});
        let moved = json!({"jobs": [{"name": "b"}, {"name": "c"}, {"name": "a"}]});
        assert_eq!(
            restored(&before, &after, moved),
            json!({"jobs": [{"name": "b"}, {"name": "c"}, {"name": "a", "extra": 1}]})
        );
    }

    #[test]
    fn list_without_names_is_restored_only_when_it_is_unchanged() {
        let before = json!({"ports": [{"number": 1, "extra": 1}, {"number": 2}]});
        let after = json!({"ports": [{"number": 1}, {"number": 2}]});
        assert_eq!(restored(&before, &after, after.clone()), before);
        let moved = json!({"ports": [{"number": 2}, {"number": 1}]});
        assert_eq!(restored(&before, &after, moved.clone()), moved);
    }

    #[test]
    fn unknown_fields_are_added_unless_they_are_empty() {
        let known = json!({"a": 1, "list": [{"x": 1}], "default": true});
        let raw = json!({"a": 1, "list": [{"x": 1, "newer": 2}], "newer": false, "empty": []});
        assert_eq!(
            with_unknown(&known, &raw),
            json!({"a": 1, "list": [{"x": 1, "newer": 2}], "default": true, "newer": false})
        );
    }
}
