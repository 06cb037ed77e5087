use serde_json::{Map, Value};

use super::structural::Structural;

/// Where the schema does not allow null, a null stands for a value that is not there: it goes,
/// unless a default takes its place. An item of a list stays what it is.
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

/// Fills in the defaults of the schema, from the outside in: for what is not there, and for a null
/// that the schema does not allow.
pub(super) fn fill_defaults(value: &mut Value, schema: &Structural) {
    match value {
        Value::Object(members) => fill_members(members, schema),
        Value::Array(items) => {
            if let Some(item) = &schema.item {
                items.iter_mut().for_each(|value| fill_entry(value, item));
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
            fill_entry(member, entry);
        }
    }
}

fn fill_entry(value: &mut Value, schema: &Structural) {
    if let Some(default) = &schema.default
        && value.is_null()
        && !schema.nullable
    {
        value.clone_from(default);
    }
    fill_defaults(value, schema);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Structural, drop_nulls, fill_defaults};

    #[test]
    fn defaults_alone_leave_a_null_that_has_none() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"},
            "b": {"type": "object"},
        }}));
        let mut value = json!({"a": null, "b": null});
        fill_defaults(&mut value, &schema);
        assert_eq!(value, json!({"a": "x", "b": null}));
    }

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
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
            "n": {"type": "array", "items": {"type": "string", "default": "z"}},
            "o": {"type": "string"},
        }}));
        let mut value = json!({
            "a": null, "b": null, "l": [{}], "m": {"k": null}, "n": [null, "v"], "o": null,
        });
        drop_nulls(&mut value, &schema);
        fill_defaults(&mut value, &schema);
        assert_eq!(
            value,
            json!({
                "a": "x", "b": null, "c": {"d": 3}, "l": [{"e": "y"}], "m": {}, "n": ["z", "v"],
            })
        );
    }
}
