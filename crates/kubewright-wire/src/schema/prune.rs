//! Removal of unknown fields.

use serde_json::Value;

use super::handle::SchemaType;
use super::types::Type;

/// Removes the fields that the type does not have and returns their paths, such as
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
            for (name, field) in fields {
                if let Some(field_type) = schema.field(name).filter(|entry| !is_free(*entry)) {
                    walk(field, field_type, &below(place, name), unknown);
                }
            }
        }
        Value::Array(items) => {
            let Some(item_type) = schema.item().filter(|entry| !is_free(*entry)) else {
                return;
            };
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, item_type, &format!("{place}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}

/// Whether the type allows any fields.
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
