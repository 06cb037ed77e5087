//! The fields that an applied object contains.

use serde_json::Value;

use super::item;
use crate::fields::{FieldSet, Node, PathElement};
use crate::schema::{Atom, List, ListType, SchemaType};

/// Every field and item of an object, which a manager that applies it owns.
pub(super) fn field_set(value: &Value, schema: SchemaType<'_>) -> FieldSet {
    below(value, schema).0
}

/// The members below a value, and whether the value itself is a member because of its type.
fn below(value: &Value, schema: SchemaType<'_>) -> (FieldSet, bool) {
    match schema.atom(Some(value)) {
        Atom::Scalar(_) => (FieldSet::new(), true),
        Atom::List(list) => match value {
            _ if list.list_type == ListType::Atomic => (FieldSet::new(), true),
            Value::Array(items) => (items_below(items, list, schema), false),
            _ => (FieldSet::new(), false),
        },
        Atom::Map(map) => match value {
            _ if map.atomic => (FieldSet::new(), true),
            Value::Object(fields) => {
                let mut set = FieldSet::new();
                for (name, value) in fields {
                    let Some(entry) = schema.at_field(map, name) else {
                        continue;
                    };
                    let (members, is_leaf) = below(value, entry);
                    let is_empty =
                        value.is_null() || value.as_object().is_some_and(|m| m.is_empty());
                    let is_member = is_leaf || is_empty || !map.fields.contains_key(name);
                    set.graft(PathElement::field(name), is_member, members);
                }
                (set, false)
            }
            _ => (FieldSet::new(), false),
        },
    }
}

fn items_below(items: &[Value], list: &List, schema: SchemaType<'_>) -> FieldSet {
    let item = schema.at(list.item);
    let nodes = item::by_element(items, list, schema).map(|(element, only)| {
        // Items with equal keys are owned together, without their parts.
        let members = only.map_or_else(FieldSet::new, |only| below(only, item).0);
        (element, Node::new(true, members))
    });
    FieldSet::of(nodes.collect())
}
