//! Comparison of two objects of one type into sets of changed fields.

use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value};

use super::item;
use crate::fields::{FieldSet, Node, PathElement, compare as compare_values};
use crate::schema::{Atom, List, ListType, Map, SchemaType, Type};

/// The changed fields between two objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Comparison {
    /// Fields that only the old object has.
    pub(super) removed: FieldSet,
    /// Fields that both have with different values.
    pub(super) modified: FieldSet,
    /// Fields that only the new object has.
    pub(super) added: FieldSet,
}

impl Comparison {
    /// Compares two objects of one type.
    pub(super) fn between(old: &Value, new: &Value, schema: SchemaType<'_>) -> Self {
        let found = parts(Some(old), Some(new), schema);
        // No manager owns the root itself.
        Self {
            removed: found.removed.below,
            modified: found.modified.below,
            added: found.added.below,
        }
    }

    /// Removes the given fields and all below them.
    pub(super) fn without(self, fields: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

/// Whether two values are equal; numbers are compared by value.
pub(super) fn is_equal(a: &Value, b: &Value) -> bool {
    compare_values(a, b).is_eq()
}

/// The changes of one value and its parts.
#[derive(Debug, Default)]
struct Found {
    removed: Spot,
    modified: Spot,
    added: Spot,
}

/// A node of a set: whether it is a member, and the members below it.
#[derive(Debug, Default)]
struct Spot {
    is_member: bool,
    below: FieldSet,
}

impl Found {
    /// The change of a value that is compared as a whole.
    fn leaf(old: &Value, new: &Value) -> Self {
        let mut found = Self::default();
        found.modified.is_member = !is_equal(old, new);
        found
    }

    /// The union of both.
    fn and(mut self, other: Self) -> Self {
        for (mine, theirs) in self.spots().into_iter().zip(other.into_spots()) {
            mine.is_member |= theirs.is_member;
            mine.below = std::mem::take(&mut mine.below).union(theirs.below);
        }
        self
    }

    /// Adds the changes of a part.
    fn put(&mut self, element: impl Fn() -> PathElement, part: Self) {
        for (mine, theirs) in self.spots().into_iter().zip(part.into_spots()) {
            if theirs.is_member || !theirs.below.is_empty() {
                mine.below.graft(element(), theirs.is_member, theirs.below);
            }
        }
    }

    fn spots(&mut self) -> [&mut Spot; 3] {
        [&mut self.removed, &mut self.modified, &mut self.added]
    }

    fn into_spots(self) -> [Spot; 3] {
        [self.removed, self.modified, self.added]
    }
}

fn parts(old: Option<&Value>, new: Option<&Value>, schema: SchemaType<'_>) -> Found {
    match (old, new) {
        (Some(old), Some(new)) => changes(old, new, schema),
        (None, Some(new)) => Found {
            added: Spot::whole(new, schema),
            ..Found::default()
        },
        (Some(old), None) => Found {
            removed: Spot::whole(old, schema),
            ..Found::default()
        },
        (None, None) => Found::default(),
    }
}

impl Spot {
    /// A value that only one object has, with all its parts.
    fn whole(value: &Value, schema: SchemaType<'_>) -> Self {
        Self {
            is_member: true,
            below: all(value, schema),
        }
    }
}

/// Everything below a value.
fn all(value: &Value, schema: SchemaType<'_>) -> FieldSet {
    let member = |value, schema| Node::new(true, all(value, schema));
    match (schema.atom(Some(value)), value) {
        (Atom::List(list), Value::Array(items)) if list.list_type != ListType::Atomic => {
            let item = schema.at(list.item);
            let nodes = item::by_element(items, list, schema).map(|(element, only)| {
                let node = only.map_or_else(
                    || Node::new(true, FieldSet::new()),
                    |only| member(only, item),
                );
                (element, node)
            });
            FieldSet::of(nodes.collect())
        }
        (Atom::Map(map), Value::Object(entries)) if !map.atomic => {
            let nodes = entries.iter().filter_map(|(name, value)| {
                let entry = schema.at_field(map, name)?;
                Some((PathElement::field(name), member(value, entry)))
            });
            FieldSet::of(nodes.collect())
        }
        _ => FieldSet::new(),
    }
}

/// The changes of a value that both objects have.
fn changes(old: &Value, new: &Value, schema: SchemaType<'_>) -> Found {
    let by_new = part(old, new, schema.atom(Some(new)), schema);
    // Where the type allows any form and the form changed, the parts of the old form are removed
    // and those of the new one are added: both comparisons count.
    if matches!(schema.definition(), Type::Any(_)) && form(old) != form(new) {
        part(old, new, schema.atom(Some(old)), schema).and(by_new)
    } else {
        by_new
    }
}

/// Compares two values as the given form.
fn part(old: &Value, new: &Value, atom: Atom<'_>, schema: SchemaType<'_>) -> Found {
    match atom {
        Atom::Scalar(_) => Found::leaf(old, new),
        Atom::List(list) => {
            let (l, r) = (items_of(old), items_of(new));
            if list.list_type == ListType::Atomic || (l.is_empty() && r.is_empty()) {
                Found::leaf(old, new)
            } else {
                items(l, r, list, schema)
            }
        }
        Atom::Map(map) => {
            let empty = JsonMap::new();
            let l = old.as_object().unwrap_or(&empty);
            let r = new.as_object().unwrap_or(&empty);
            if map.atomic || (l.is_empty() && r.is_empty()) {
                Found::leaf(old, new)
            } else {
                entries(l, r, map, schema)
            }
        }
    }
}

fn entries(
    old: &JsonMap<String, Value>,
    new: &JsonMap<String, Value>,
    map: &Map,
    schema: SchemaType<'_>,
) -> Found {
    let mut found = Found::default();
    let added = new.keys().filter(|name| !old.contains_key(*name));
    let mut names: Vec<&String> = old.keys().chain(added).collect();
    names.sort_unstable();
    for name in names {
        let Some(entry) = schema.at_field(map, name) else {
            continue;
        };
        let part = parts(old.get(name), new.get(name), entry);
        found.put(|| PathElement::field(name), part);
    }
    found
}

fn items(old: &[Value], new: &[Value], list: &List, schema: SchemaType<'_>) -> Found {
    let mut pairs: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
    for value in old {
        if let Ok(element) = item::element(value, list, schema) {
            pairs.entry(element).or_default().0.push(value);
        }
    }
    for value in new {
        if let Ok(element) = item::element(value, list, schema) {
            pairs.entry(element).or_default().1.push(value);
        }
    }
    let mut found = Found::default();
    let item = schema.at(list.item);
    for (element, (old, new)) in pairs {
        found.put(|| element.clone(), same_key(&old, &new, item));
    }
    found
}

/// Compares the items of one key; several of one key are compared as one value.
fn same_key(old: &[&Value], new: &[&Value], item: SchemaType<'_>) -> Found {
    let mut found = Found::default();
    match (old, new) {
        ([] | [_], [] | [_]) => {
            return parts(old.first().copied(), new.first().copied(), item);
        }
        ([_, _, ..], [_, _, ..]) => {
            let is_same =
                old.len() == new.len() && old.iter().zip(new).all(|(a, b)| is_equal(a, b));
            found.modified.is_member = !is_same;
        }
        ([_, _, ..], _) => {
            if let Some(new) = new.first() {
                found = parts(None, Some(new), item);
            }
            found.removed.is_member = true;
        }
        (_, [_, _, ..]) => {
            if let Some(old) = old.first() {
                found = parts(Some(old), None, item);
            }
            found.added.is_member = true;
        }
    }
    found
}

fn items_of(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The form of a value whose type allows any; null counts as a map.
fn form(value: &Value) -> u8 {
    match value {
        Value::Array(_) => 0,
        Value::Object(_) | Value::Null => 1,
        _ => 2,
    }
}
