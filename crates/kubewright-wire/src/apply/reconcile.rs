//! Adaptation of stored field sets to a changed schema.

use crate::fields::{FieldSet, PathElement};
use crate::schema::{ListType, SchemaType, Type};

/// The set by the current schema: where a list or map has become atomic since the set was written,
/// a manager that owned parts of it owns the whole.
pub(super) fn reconcile(set: &FieldSet, schema: SchemaType<'_>) -> FieldSet {
    let mut out = FieldSet::new();
    for (element, is_member, below) in set.steps() {
        let Some(entry) = entry_type(schema, element) else {
            out.graft(element.clone(), is_member, below.clone());
            continue;
        };
        let is_leaf = is_member && below.is_empty();
        if !is_leaf && is_atomic(entry, below) {
            out.graft(element.clone(), true, FieldSet::new());
        } else {
            out.graft(element.clone(), is_member, reconcile(below, entry));
        }
    }
    out
}

fn entry_type<'s>(schema: SchemaType<'s>, element: &PathElement) -> Option<SchemaType<'s>> {
    match schema.definition() {
        Type::Scalar(_) => None,
        Type::List(_) => schema.item(),
        Type::Map(_) | Type::Any(_) if is_untyped(schema) => None,
        Type::Map(map) => match element {
            PathElement::Field(name) => schema.at_field(map, name),
            _ => map.rest.map(|rest| schema.at(rest)),
        },
        Type::Any(any) => match element {
            PathElement::Field(name) => schema.at_field(&any.map, name),
            _ => any.map.rest.map(|rest| schema.at(rest)),
        },
    }
}

fn is_atomic(schema: SchemaType<'_>, below: &FieldSet) -> bool {
    match schema.definition() {
        Type::Scalar(_) => false,
        Type::List(list) => list.list_type == ListType::Atomic,
        Type::Map(_) | Type::Any(_) if is_untyped(schema) => false,
        Type::Map(map) => map.atomic && !below.is_empty(),
        Type::Any(any) => any.map.atomic && !below.is_empty(),
    }
}

/// Values without a schema have no markers that could have changed.
fn is_untyped(schema: SchemaType<'_>) -> bool {
    let untyped = schema.schema().untyped();
    schema
        .map()
        .is_some_and(|map| map.fields.is_empty() && map.rest == Some(untyped.id()))
}
