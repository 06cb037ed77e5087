use serde_json::Value;

use super::{SchemaType, Type};

/// Removes the fields that the type does not know and returns their paths, such as
/// `spec.items[0].colour`.
pub fn prune(value: &mut Value, schema: SchemaType<'_>) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(value, schema, "", &mut unknown);
    unknown
}

fn walk(value: &mut Value, schema: SchemaType<'_>, place: &str, unknown: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if schema.map().is_none() {
                return;
            }
            fields.retain(|name, _| {
                let is_known = schema.field(name).is_some();
                if !is_known {
                    unknown.push(below(place, name));
                }
                is_known
            });
            for (name, value) in fields {
                if let Some(schema) = schema.field(name).filter(|schema| !is_free(*schema)) {
                    walk(value, schema, &below(place, name), unknown);
                }
            }
        }
        Value::Array(items) => {
            let Some(item) = schema.item().filter(|item| !is_free(*item)) else {
                return;
            };
            for (index, value) in items.iter_mut().enumerate() {
                walk(value, item, &format!("{place}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

/// Whether nothing below can be unknown.
pub(super) fn is_free(schema: SchemaType<'_>) -> bool {
    matches!(schema.definition(), Type::Any(any) if any.map.fields.is_empty())
        && schema.map().is_some_and(|map| map.rest.is_some())
}

pub(super) fn below(place: &str, name: &str) -> String {
    match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    }
}
