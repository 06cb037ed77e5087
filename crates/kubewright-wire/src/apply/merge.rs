//! The merge of an applied object into the live one.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map as JsonMap, Value};

use super::item;
use crate::fields::PathElement;
use crate::schema::{Atom, List, ListType, Map, SchemaType};

/// Merges the intent into the live object: leaves of the intent win, nothing is removed, and lists
/// that the intent changes take its order.
pub(super) fn merge(live: &Value, intent: &Value, schema: SchemaType<'_>) -> Result<Value, String> {
    let merged = merge_parts(Some(live), Some(intent), schema)?;
    Ok(merged.unwrap_or(Value::Null))
}

type Merged = Result<Option<Value>, String>;

fn merge_parts(left: Option<&Value>, right: Option<&Value>, schema: SchemaType<'_>) -> Merged {
    let leaf = || Ok(right.or(left).cloned());
    match schema.atom(right.or(left)) {
        Atom::Scalar(_) => leaf(),
        Atom::List(list) => {
            let (l, r) = (items_of(left), items_of(right));
            if list.list_type == ListType::Atomic || (l.is_empty() && r.is_empty()) {
                leaf()
            } else {
                merge_items(l, r, list, schema)
            }
        }
        Atom::Map(map) => {
            let empty = JsonMap::new();
            let l = left.and_then(Value::as_object).unwrap_or(&empty);
            let r = right.and_then(Value::as_object).unwrap_or(&empty);
            if map.atomic || (l.is_empty() && r.is_empty()) {
                leaf()
            } else {
                merge_entries(l, r, map, schema)
            }
        }
    }
}

fn items_of(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn merge_entries(
    left: &JsonMap<String, Value>,
    right: &JsonMap<String, Value>,
    map: &Map,
    schema: SchemaType<'_>,
) -> Merged {
    let mut out = JsonMap::new();
    let added = right.keys().filter(|name| !left.contains_key(*name));
    for name in left.keys().chain(added) {
        let Some(entry) = schema.at_field(map, name) else {
            continue;
        };
        if let Some(value) = merge_parts(left.get(name), right.get(name), entry)? {
            out.insert(name.clone(), value);
        }
    }
    Ok((!out.is_empty()).then_some(Value::Object(out)))
}

/// The items of one side, in their order and by path element.
struct Side<'v> {
    elements: Vec<PathElement>,
    values: Vec<&'v Value>,
    /// `None` for items with equal keys: those are not merged.
    by_element: BTreeMap<PathElement, Option<&'v Value>>,
}

impl<'v> Side<'v> {
    fn read(items: &'v [Value], list: &List, schema: SchemaType<'_>) -> Result<Self, String> {
        let mut side = Self {
            elements: Vec::new(),
            values: Vec::new(),
            by_element: BTreeMap::new(),
        };
        for (index, value) in items.iter().enumerate() {
            let element = item::element(value, list, schema)
                .map_err(|what| format!("element {index}: {what}"))?;
            side.by_element
                .entry(element.clone())
                .and_modify(|known| *known = None)
                .or_insert(Some(value));
            side.elements.push(element);
            side.values.push(value);
        }
        Ok(side)
    }

    fn has(&self, element: &PathElement) -> bool {
        self.by_element.contains_key(element)
    }

    /// The item to merge with; null when several have the element.
    fn get(&self, element: &PathElement) -> Option<&'v Value> {
        const SEVERAL: &Value = &Value::Null;
        self.by_element
            .get(element)
            .map(|value| value.unwrap_or(SEVERAL))
    }
}

fn merge_items(left: &[Value], right: &[Value], list: &List, schema: SchemaType<'_>) -> Merged {
    let l = Side::read(left, list, schema)?;
    let r = Side::read(right, list, schema)?;
    if let Some((element, _)) = r.by_element.iter().find(|(_, value)| value.is_none()) {
        return Err(format!("duplicate entries for key {element}"));
    }
    let mut out = Vec::with_capacity(left.len().max(right.len()));
    for (element, step) in order(&l, &r) {
        let (from_left, from_right) = match step {
            Step::Both => (l.get(element), r.get(element)),
            Step::Left(index) => (l.values.get(index).copied(), None),
        };
        out.extend(merge_parts(from_left, from_right, schema.at(list.item))?);
    }
    Ok((!out.is_empty()).then_some(Value::Array(out)))
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The item of the right side, merged with the item of the left that has the same key.
    Both,
    /// The item of the left side at this position, which the right does not have.
    Left(usize),
}

/// The order of the merged items: that of the right side. Items that only the left has stay after
/// their predecessors.
fn order<'a>(l: &'a Side<'_>, r: &'a Side<'_>) -> Vec<(&'a PathElement, Step)> {
    let mut shared: VecDeque<&PathElement> =
        r.elements.iter().filter(|element| l.has(element)).collect();
    let mut next_shared = shared.pop_front();
    let mut merged: BTreeMap<&PathElement, ()> = BTreeMap::new();
    let mut steps = Vec::new();
    let (mut at_left, mut at_right) = (0, 0);
    loop {
        let left = l.elements.get(at_left);
        let right = r.elements.get(at_right);
        if left.is_none() && right.is_none() {
            return steps;
        }
        if let (Some(element), Some(wanted)) = (left, right) {
            if element == wanted {
                merged.insert(element, ());
                steps.push((element, Step::Both));
                at_left += 1;
                at_right += 1;
                next_shared = shared.pop_front();
                continue;
            }
            let comes_later = next_shared.is_some_and(|next| next != element);
            if r.has(element) && comes_later {
                at_left += 1;
                continue;
            }
        }
        if let Some(element) = left {
            if !r.has(element) {
                steps.push((element, Step::Left(at_left)));
                at_left += 1;
                continue;
            }
            if merged.contains_key(element) {
                at_left += 1;
            }
        }
        if let Some(element) = right {
            merged.insert(element, ());
            steps.push((element, Step::Both));
            at_right += 1;
            if next_shared == Some(element) {
                next_shared = shared.pop_front();
            }
        }
    }
}
