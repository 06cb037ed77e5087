//! The defaults of schemas, and nulls that they do not allow.

use serde_json::{Map, Value};

use super::structural::Structural;

/// Removes nulls that the schema does not allow, except for those that a default replaces and for
/// items of lists.
pub(super) fn drop_nulls(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| {
                let entry = schema.entry(name);
                !member.is_null()
                    || entry.is_none_or(|entry| entry.nullable || entry.default.is_some())
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

/// Sets the defaults of the schema, outer values first: of absent fields, and of nulls that the
/// schema does not allow.
pub(super) fn apply_defaults(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(members) => default_members(members, schema),
        Value::Array(items) => {
            if let Some(item) = &schema.item {
                items
                    .iter_mut()
                    .for_each(|value| default_entry(value, item));
            }
        }
        _ => {}
    }
}

fn default_members(members: &mut Map<String, Value>, schema: &Structural) {
    for (name, property) in &schema.properties {
        if let Some(default) = &property.default
            && !members.contains_key(name)
        {
            members.insert(name.clone(), default.clone());
        }
    }
    for (name, member) in members.iter_mut() {
        if let Some(entry) = schema.entry(name) {
            default_entry(member, entry);
        }
    }
}

fn default_entry(value: &mut Value, schema: &Structural) {
    if let Some(default) = &schema.default
        && value.is_null()
        && !schema.nullable
    {
        value.clone_from(default);
    }
    apply_defaults(value, schema);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Structural, apply_defaults, drop_nulls};

    #[test]
    fn null_without_a_default_is_kept() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "object"},
        }}));
        let mut value = json!({"a": null, "b": null});
        apply_defaults(&mut value, &schema);
        assert_eq!(value, json!({"a": "x", "b": null}));
    }

    #[test]
    fn null_is_replaced_by_the_default() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "string", "nullable": true},
            "c": {"type": "object", "default": {}, "properties": {
                "d": {"type": "integer", "default": 3},
            }},
            "l": {"type": "array", "items": {"type": "object", "properties": {
                "e": {"type": "string", "default": "y"},
            }}},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "n": {"type": "array", "items": {"type": "string", "default": "z"}},
            "o": {"type": "string"},
        }}));
        let mut value = json!({
            "a": null, "b": null, "l": [{}], "m": {"k": null}, "n": [null, "v"], "o": null,
        });
        drop_nulls(&mut value, &schema);
        apply_defaults(&mut value, &schema);
        assert_eq!(
            value,
            json!({
                "a": "x", "b": null, "c": {"d": 3}, "l": [{"e": "y"}], "m": {}, "n": ["z", "v"],
            })
        );
    }
}
