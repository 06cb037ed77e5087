//! The fields in which two states of an object differ.

use serde_json::Value;

/// The number of fields that are listed.
const MAX_FIELDS: usize = 5;
/// The number of characters of a value that are shown.
const MAX_VALUE_LEN: usize = 40;
/// Fields that the API server changes with every write.
const SERVER_FIELDS: [&str; 3] = [
    "metadata.resourceVersion",
    "metadata.managedFields",
    "metadata.generation",
];

/// The fields that differ, as `path: old -> new`.
pub(super) fn changed_fields(old: &Value, new: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(Some(old), Some(new), "", &mut found);
    found
}

fn compare(old: Option<&Value>, new: Option<&Value>, path: &str, found: &mut Vec<String>) {
    if old == new || found.len() >= MAX_FIELDS || SERVER_FIELDS.contains(&path) {
        return;
    }
    match (old, new) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let added = after.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                let dot = if path.is_empty() { "" } else { "." };
                let child = format!("{path}{dot}{name}");
                compare(before.get(name), after.get(name), &child, found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for index in 0..before.len().max(after.len()) {
                let child = format!("{path}[{index}]");
                compare(before.get(index), after.get(index), &child, found);
            }
        }
        (before, after) => found.push(format!("{path}: {} -> {}", display(before), display(after))),
    }
}

fn display(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let text = value.to_string();
    match text.char_indices().nth(MAX_VALUE_LEN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::changed_fields;

    #[test]
    fn changed_fields_are_listed_with_both_values() {
        let old = json!({
            "metadata": {"resourceVersion": "1", "labels": {"a": "x"}},
            "data": {"now": "1", "same": "s"}, "list": [1, 2],
        });
        let new = json!({
            "metadata": {"resourceVersion": "2", "labels": {}},
            "data": {"now": "2", "same": "s"}, "list": [1, 3, 4],
        });
        assert_eq!(
            changed_fields(&old, &new),
            [
                r#"data.now: "1" -> "2""#,
                "list[1]: 2 -> 3",
                "list[2]: nothing -> 4",
                r#"metadata.labels.a: "x" -> nothing"#,
            ]
        );
    }

    #[test]
    fn long_values_and_long_lists_are_truncated() {
        let (old, new) = (json!({"a": "x"}), json!({"a": "y".repeat(100)}));
        let [field] = changed_fields(&old, &new).try_into().unwrap();
        assert_eq!(field.len(), "a: \"x\" -> ".len() + 40 + 3);
        let many = |value: i32| json!(vec![value; 100]);
        assert_eq!(changed_fields(&many(1), &many(2)).len(), 5);
    }
}
