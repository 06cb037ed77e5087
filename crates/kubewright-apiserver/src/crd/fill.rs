use serde_json::{Map, Value};

use super::structural::Structural;

/// A null stands for an absent value wherever the schema does not allow null.
pub(super) fn drop_nulls(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| {
                let entry = schema.properties.get(name);
                !member.is_null() || entry.is_none_or(|entry| entry.nullable)
            });
            for (name, member) in members.iter_mut() {
                if let Some(entry) = schema.entry(name) {
                    drop_nulls(member, entry);
                }
            }
        }
        Value::Array(items) => {
            if let Some(item) = &schema.item {
                items.iter_mut().for_each(|value| drop_nulls(value, item));
            }
        }
        _ => {}
    }
}

/// Fills in the defaults of the schema, from the outside in.
pub(super) fn fill_defaults(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(members) => fill_members(members, schema),
        Value::Array(items) => {
            if let Some(item) = &schema.item {
                items
                    .iter_mut()
                    .for_each(|value| fill_defaults(value, item));
            }
        }
        _ => {}
    }
}

fn fill_members(members: &mut Map<String, Value>, schema: &Structural) {
    for (name, property) in &schema.properties {
        if let Some(default) = &property.default
            && !members.contains_key(name)
        {
            members.insert(name.clone(), default.clone());
        }
    }
    for (name, member) in members.iter_mut() {
        if let Some(entry) = schema.entry(name) {
            fill_defaults(member, entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Structural, drop_nulls, fill_defaults};

    #[test]
    fn a_null_gives_way_to_the_default() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "string", "nullable": true},
            "c": {"type": "object", "default": {}, "properties": {
                "d": {"type": "integer", "default": 3},
            }},
            "l": {"type": "array", "items": {"type": "object", "properties": {
                "e": {"type": "string", "default": "y"},
            }}},
        }}));
        let mut value = json!({"a": null, "b": null, "l": [{}]});
        drop_nulls(&mut value, &schema);
        fill_defaults(&mut value, &schema);
        assert_eq!(
            value,
            json!({"a": "x", "b": null, "c": {"d": 3}, "l": [{"e": "y"}]})
        );
    }
}
