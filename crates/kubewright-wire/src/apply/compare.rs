use std::collections::BTreeMap;

use serde_json::{Map as JsonMap, Value};

use super::item;
use crate::fields::{FieldSet, KeyValue, PathElement, compare as compare_values};
use crate::schema::{Atom, List, ListType, Map, SchemaType};

/// What changed from one object to another.
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
        let mut walk = Walk {
            path: Vec::new(),
            found: Self::default(),
        };
        walk.parts(Some(old), Some(new), schema);
        walk.found
    }

    /// The same without the given fields and all below them.
    pub(super) fn without(self, fields: &FieldSet) -> Self {
        if fields.is_empty() {
            return self;
        }
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

/// Whether two values are the same: numbers by what they are worth.
pub(super) fn is_equal(a: &Value, b: &Value) -> bool {
    compare_values(a, b).is_eq()
}

struct Walk {
    path: Vec<PathElement>,
    found: Comparison,
}

impl Walk {
    fn parts(&mut self, old: Option<&Value>, new: Option<&Value>, schema: SchemaType<'_>) {
        // Where the form changed, what the old form held is gone and what the new one holds is
        // new: both are looked at.
        let is_leaf = match (old, new) {
            (Some(old), Some(new)) if form(old) != form(new) => {
                self.part(Some(old), Some(new), schema.atom(Some(old)), schema);
                self.part(Some(old), Some(new), schema.atom(Some(new)), schema)
            }
            _ => self.part(old, new, schema.atom(new.or(old)), schema),
        };
        if is_leaf {
            return;
        }
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Compares by one form; true when the value was compared whole.
    fn part(
        &mut self,
        old: Option<&Value>,
        new: Option<&Value>,
        atom: Atom<'_>,
        schema: SchemaType<'_>,
    ) -> bool {
        match atom {
            Atom::Scalar(_) => self.leaf(old, new),
            Atom::List(list) => {
                let (l, r) = (items_of(old), items_of(new));
                if list.list_type == ListType::Atomic || (l.is_empty() && r.is_empty()) {
                    return self.leaf(old, new);
                }
                self.items(l, r, list, schema);
                false
            }
            Atom::Map(map) => {
                let empty = JsonMap::new();
                let l = old.and_then(Value::as_object).unwrap_or(&empty);
                let r = new.and_then(Value::as_object).unwrap_or(&empty);
                if map.atomic || (l.is_empty() && r.is_empty()) {
                    return self.leaf(old, new);
                }
                self.entries(l, r, map, schema);
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !is_equal(old, new) => {
                self.found.modified.insert(&self.path);
            }
            _ => {}
        }
        true
    }

    fn entries(
        &mut self,
        old: &JsonMap<String, Value>,
        new: &JsonMap<String, Value>,
        map: &Map,
        schema: SchemaType<'_>,
    ) {
        let added = new.keys().filter(|name| !old.contains_key(*name));
        for name in old.keys().chain(added) {
            let Some(entry) = schema.at_field(map, name) else {
                continue;
            };
            self.path.push(PathElement::field(name));
            self.parts(old.get(name), new.get(name), entry);
            self.path.pop();
        }
    }

    fn items(&mut self, old: &[Value], new: &[Value], list: &List, schema: SchemaType<'_>) {
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
        let item = schema.at(list.item);
        for (element, (old, new)) in pairs {
            self.path.push(element);
            self.item(&old, &new, item);
            self.path.pop();
        }
    }

    /// Compares the items of one key; several of one key are compared as one value.
    fn item(&mut self, old: &[&Value], new: &[&Value], item: SchemaType<'_>) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.parts(old.first().copied(), new.first().copied(), item),
            ([_, _, ..], [_, _, ..]) => {
                let keyed = |values: &[&Value]| -> Vec<KeyValue> {
                    values
                        .iter()
                        .map(|value| KeyValue((*value).clone()))
                        .collect()
                };
                if keyed(old) != keyed(new) {
                    self.found.modified.insert(&self.path);
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.parts(None, Some(new), item);
                }
                self.found.removed.insert(&self.path);
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.parts(Some(old), None, item);
                }
                self.found.added.insert(&self.path);
            }
        }
    }
}

fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What a value is where its type takes anything; null counts as a map.
fn form(value: &Value) -> u8 {
    match value {
        Value::Array(_) => 0,
        Value::Object(_) | Value::Null => 1,
        _ => 2,
    }
}
