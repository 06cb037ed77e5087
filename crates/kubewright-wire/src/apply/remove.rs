//! Removal of a set of fields from an object.

use serde_json::{Map as JsonMap, Value};

use super::item;
use crate::fields::{FieldSet, PathElement};
use crate::schema::{Atom, List, ListType, Map, SchemaType};

/// The object without the given fields and items. A struct, map or list that becomes empty is null.
pub(super) fn remove(value: &Value, fields: &FieldSet, schema: SchemaType<'_>) -> Value {
    match (schema.atom(Some(value)), value) {
        (Atom::Scalar(_), value) => value.clone(),
        (Atom::List(list), Value::Array(items)) if list.list_type != ListType::Atomic => {
            remove_items(items, fields, list, schema)
        }
        (Atom::Map(map), Value::Object(entries)) if !map.atomic => {
            remove_entries(entries, fields, map, schema)
        }
        _ => Value::Null,
    }
}

fn remove_items(items: &[Value], fields: &FieldSet, list: &List, schema: SchemaType<'_>) -> Value {
    let mut kept = Vec::with_capacity(items.len());
    for value in items {
        let Ok(element) = item::element(value, list, schema) else {
            kept.push(value.clone());
            continue;
        };
        if fields.has_member(&element) {
            continue;
        }
        kept.push(match fields.below(&element) {
            Some(below) => remove(value, below, schema.at(list.item)),
            None => value.clone(),
        });
    }
    if kept.is_empty() {
        Value::Null
    } else {
        Value::Array(kept)
    }
}

fn remove_entries(
    entries: &JsonMap<String, Value>,
    fields: &FieldSet,
    map: &Map,
    schema: SchemaType<'_>,
) -> Value {
    let mut kept = JsonMap::new();
    for (name, value) in entries {
        let element = PathElement::field(name);
        if fields.has_member(&element) {
            continue;
        }
        let below = fields.below(&element).zip(schema.at_field(map, name));
        let reduced = match below {
            Some((below, entry)) => remove(value, below, entry),
            None => value.clone(),
        };
        kept.insert(name.clone(), reduced);
    }
    if kept.is_empty() {
        Value::Null
    } else {
        Value::Object(kept)
    }
}
