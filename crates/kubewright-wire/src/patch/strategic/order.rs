//! The order of the items of a merged list.

use std::collections::HashMap;

use serde_json::Value;

use super::directive::{DIRECTIVE, ELEMENT_ORDER};
use super::error::{StrategicPatchError, print_list};

/// How items of a list are identified: by a field, or by their whole value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Identity<'a> {
    Field(&'a str),
    Whole,
}

impl<'a> Identity<'a> {
    pub(super) fn new(merge_key: Option<&'a str>) -> Self {
        merge_key.map_or(Self::Whole, Self::Field)
    }

    /// The identity of an item; an error when it does not have the field.
    pub(super) fn of<'v>(&self, item: &'v Value) -> Result<&'v Value, StrategicPatchError> {
        let Self::Field(key) = self else {
            return Ok(item);
        };
        let Some(members) = item.as_object() else {
            let expected = "map[string]interface {}";
            return Err(StrategicPatchError::wrong_type(expected, item));
        };
        members
            .get(*key)
            .ok_or_else(|| StrategicPatchError::no_merge_key(members, key))
    }
}

/// The indexes of list items by identity: a patch may have tens of thousands of items.
pub(super) struct Places<'a> {
    identity: Identity<'a>,
    first: HashMap<String, usize>,
}

impl<'a> Places<'a> {
    pub(super) fn of(items: &[Value], identity: Identity<'a>) -> Self {
        let mut places = Self {
            identity,
            first: HashMap::with_capacity(items.len()),
        };
        for (index, item) in items.iter().enumerate() {
            places.add(item, index);
        }
        places
    }

    /// Adds an item, unless one with the same identity was added before.
    pub(super) fn add(&mut self, item: &Value, index: usize) {
        if let Ok(found) = self.identity.of(item) {
            self.first.entry(found.to_string()).or_insert(index);
        }
    }

    /// The index of the first item with the identity of this one.
    pub(super) fn get(&self, item: &Value) -> Option<usize> {
        let wanted = self.identity.of(item).ok()?;
        self.first.get(&wanted.to_string()).copied()
    }
}

/// Sorts the items of a merged list: those in `wanted` by its order, the others between them by the
/// order of `live`.
pub(super) fn arrange(
    merged: Vec<Value>,
    wanted: &[Value],
    live: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, StrategicPatchError> {
    for item in merged.iter().chain(wanted) {
        identity.of(item)?;
    }
    let wanted_places = Places::of(wanted, identity);
    let live_places = Places::of(live, identity);
    let placed = merged.into_iter().map(|item| Placed {
        wanted: wanted_places.get(&item),
        live: live_places.get(&item),
        item,
    });
    let (mut named, mut others): (Vec<Placed>, Vec<Placed>) =
        placed.partition(|placed| placed.wanted.is_some());
    named.sort_by_key(|placed| placed.wanted);
    others.sort_by_key(|placed| placed.live.unwrap_or(usize::MAX));
    Ok(interleave(others, named))
}

/// An item, and its indexes in the wanted order and in the live list.
struct Placed {
    item: Value,
    wanted: Option<usize>,
    live: Option<usize>,
}

/// Inserts each of `others` before the first of `named` that is after it in the live list.
fn interleave(others: Vec<Placed>, named: Vec<Placed>) -> Vec<Value> {
    let mut result = Vec::with_capacity(others.len() + named.len());
    let mut rest = others.into_iter().peekable();
    for next in named {
        let is_before = |other: &Placed| match (other.live, next.live) {
            (Some(other), Some(next)) => other < next,
            _ => false,
        };
        while let Some(other) = rest.next_if(is_before) {
            result.push(other.item);
        }
        result.push(next.item);
    }
    result.extend(rest.map(|other| other.item));
    result
}

/// Checks that `wanted` contains all items of the patch, in the same order.
pub(super) fn check_order(
    patch: &[Value],
    wanted: &[Value],
    identity: Identity<'_>,
) -> Result<(), StrategicPatchError> {
    if wanted.is_empty() || patch.is_empty() {
        return Ok(());
    }
    let mut wanted_items = wanted.iter();
    for item in patch.iter().filter(|item| !has_directive(item)) {
        let sought = identity.of(item)?;
        let mut is_found = false;
        for candidate in wanted_items.by_ref() {
            if identity.of(candidate)? == sought {
                is_found = true;
                break;
            }
        }
        if !is_found {
            return Err(StrategicPatchError::Mismatch(format!(
                "The order in patch list:\n{}\n doesn't match {ELEMENT_ORDER} list:\n{}\n",
                print_list(patch),
                print_list(wanted)
            )));
        }
    }
    Ok(())
}

fn has_directive(item: &Value) -> bool {
    item.get(DIRECTIVE).is_some()
}
