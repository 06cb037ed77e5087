use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::structural::{ListKind, Structural};

/// Items that stand twice where they may stand once (`ValidateListSetsAndMaps` of
/// k8s.io/apiextensions-apiserver).
pub(super) fn duplicates(value: &Value, schema: &Structural) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(value, schema, "", &mut causes);
    causes
}

fn walk(value: &Value, schema: &Structural, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let (below, path) = match (schema.properties.get(name), &schema.rest, path) {
                    (Some(below), _, "") => (below, name.clone()),
                    (Some(below), _, path) => (below, format!("{path}.{name}")),
                    (None, Some(below), path) => (&**below, format!("{path}[{name}]")),
                    (None, None, _) => continue,
                };
                walk(member, below, &path, causes);
            }
        }
        Value::Array(items) => {
            causes.extend(repeated(items, &schema.list, path));
            let below = schema.item.iter();
            for item in below {
                for (index, value) in items.iter().enumerate() {
                    walk(value, item, &format!("{path}[{index}]"), causes);
                }
            }
        }
        _ => {}
    }
}

/// Each value that comes again is told once, where it comes for the second time.
fn repeated(items: &[Value], list: &ListKind, path: &str) -> Vec<Cause> {
    let keys: Vec<Value> = match list {
        ListKind::Atomic => return Vec::new(),
        ListKind::Set => items.to_vec(),
        ListKind::Map(names) => items.iter().map(|item| key_of(item, names)).collect(),
    };
    let is_second = |index: usize, key: &Value| {
        let before = keys.iter().take(index);
        before.filter(|one| *one == key).count() == 1
    };
    keys.iter()
        .enumerate()
        .filter(|(index, key)| is_second(*index, key))
        .map(|(index, key)| Cause::duplicate(&format!("{path}[{index}]"), key))
        .collect()
}

/// What tells an item of a list apart from the others.
pub(super) fn key_of(item: &Value, names: &[String]) -> Value {
    let mut key = json!({});
    for name in names {
        if let Some(value) = item.get(name) {
            key[name] = value.clone();
        }
    }
    key
}
