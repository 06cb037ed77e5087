//! Removal of fields that a manager no longer applies.

use std::collections::BTreeMap;

use serde_json::Value;

use super::field_set::field_set;
use super::managed::{Entry, Managed};
use super::remove::remove;
use super::versions::Versions;
use crate::fields::{FieldSet, PathElement};
use crate::schema::SchemaType;

/// Removes from the merged object the fields that the manager owned, no longer applies, and that no
/// other manager owns. `last` is its former entry.
pub(super) fn prune(
    merged: Value,
    managed: &Managed,
    last: Option<&Entry>,
    versions: &dyn Versions,
    version: &str,
) -> Value {
    let Some(last) = last.filter(|last| !last.fields.is_empty()) else {
        return merged;
    };
    let Some(schema) = versions.schema(&last.api_version) else {
        return merged;
    };
    let Some(in_last) = versions.convert(&merged, &last.api_version) else {
        return merged;
    };
    let owned = with_named_fields(&last.fields, Some(schema));
    let removed = remove(&in_last, &owned, schema);
    let with_owned = add_back_owned(&in_last, removed, managed, versions, &last.api_version);
    let pruned = add_back_dangling(&in_last, &with_owned, &owned, schema);
    match versions.convert(&pruned, version) {
        Some(converted) => converted.into_owned(),
        None => merged,
    }
}

/// Adds back the fields that any manager owns, in the version of each.
fn add_back_owned(
    merged: &Value,
    mut pruned: Value,
    managed: &Managed,
    versions: &dyn Versions,
    first: &str,
) -> Value {
    let mut by_version: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for entry in managed.entries.values() {
        let set = by_version.entry(&entry.api_version).or_default();
        *set = std::mem::take(set).union(entry.fields.clone());
    }
    // Fields of the version that was pruned come first: conversions may need them.
    let own = by_version.remove(first).map(|set| (first, set));
    for (version, owned) in own.into_iter().chain(by_version) {
        let (Some(schema), Some(merged_in_version), Some(pruned_in_version)) = (
            versions.schema(version),
            versions.convert(merged, version),
            versions.convert(&pruned, version),
        ) else {
            continue;
        };
        let keep =
            named_set(&pruned_in_version, schema).union(with_named_fields(&owned, Some(schema)));
        let surplus = named_set(&merged_in_version, schema).difference(&keep);
        pruned = remove(&merged_in_version, &surplus, schema);
    }
    match versions.convert(&pruned, first) {
        Some(converted) => converted.into_owned(),
        None => pruned,
    }
}

/// Adds back fields that were removed although the manager never owned them, such as fields of a
/// list item that only this manager owned but did not set.
fn add_back_dangling(
    merged: &Value,
    pruned: &Value,
    owned: &FieldSet,
    schema: SchemaType<'_>,
) -> Value {
    let removed = named_set(merged, schema).difference(&named_set(pruned, schema));
    remove(merged, &removed.intersection(owned), schema)
}

fn named_set(value: &Value, schema: SchemaType<'_>) -> FieldSet {
    with_named_fields(&field_set(value, schema), Some(schema))
}

/// The set with every struct field that has members below it as a member itself; entries of maps
/// are not added.
fn with_named_fields(set: &FieldSet, schema: Option<SchemaType<'_>>) -> FieldSet {
    let mut out = FieldSet::new();
    for (element, is_member, below) in set.steps() {
        let (is_named, entry) = match (element, schema) {
            (PathElement::Field(name), Some(schema)) => {
                let is_named = schema.declared(name).is_some() && !below.is_empty();
                (is_named, schema.field(name))
            }
            (PathElement::Key(_), Some(schema)) => (false, schema.item()),
            _ => (false, None),
        };
        let below = with_named_fields(below, entry);
        out.graft(element.clone(), is_member || is_named, below);
    }
    out
}
