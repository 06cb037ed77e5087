use serde_json::Value;

use super::handle::SchemaType;
use super::types::Written;

/// Makes null what is empty and always written: Kubernetes stores its own kinds as protobuf, which
/// does not tell an empty list or map from none.
pub fn forget_empty(value: &mut Value, schema: SchemaType<'_>) {
    match value {
        Value::Object(fields) => {
            let declared = schema.map().map(|map| &map.fields);
            for (name, value) in fields.iter_mut() {
                let Some(field) = declared.and_then(|fields| fields.get(name)) else {
                    continue;
                };
                forget_empty(value, schema.at(field.type_id));
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
                forget_empty(value, item);
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
