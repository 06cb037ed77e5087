//! Empty lists and maps as Kubernetes stores them.

use serde_json::Value;

use super::handle::SchemaType;
use super::types::Written;

/// Replaces empty lists and maps that are always written with null: Kubernetes stores its own kinds
/// as protobuf, which does not distinguish an empty list or map from an absent one.
pub fn drop_empty_fields(value: &mut Value, schema: SchemaType<'_>) {
    match value {
        Value::Object(fields) => {
            let declared = schema.map().map(|map| &map.fields);
            for (name, value) in fields.iter_mut() {
                let Some(field) = declared.and_then(|fields| fields.get(name)) else {
                    continue;
                };
                drop_empty_fields(value, schema.at(field.type_id));
                if field.written == Written::AlwaysOrNull && is_empty(value) {
                    *value = Value::Null;
                }
            }
        }
        Value::Array(items) => {
            let Some(item) = schema.item() else {
                return;
            };
            for value in items {
                drop_empty_fields(value, item);
            }
        }
        _ => {}
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
