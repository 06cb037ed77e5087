//! Sets, and lists with keys.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::structural::{ListKind, Structural};

/// The errors of duplicate items in sets and lists with keys (`ValidateListSetsAndMaps` of
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

/// Each duplicate value is reported once, at its second item.
fn repeated(items: &[Value], list: &ListKind, path: &str) -> Vec<Cause> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut causes = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let key = match list {
            ListKind::Atomic => return causes,
            ListKind::Set => Cow::Borrowed(item),
            ListKind::Map(names) => Cow::Owned(key_of(item, names)),
        };
        let count = seen.entry(key.to_string()).or_default();
        *count += 1;
        if *count == 2 {
            causes.push(Cause::duplicate(&format!("{path}[{index}]"), &key));
        }
    }
    causes
}

/// The key of an item.
pub(super) fn key_of(item: &Value, names: &[String]) -> Value {
    let mut key = json!({});
    for name in names {
        if let Some(value) = item.get(name) {
            key[name] = value.clone();
        }
    }
    key
}
