//! The order of the items of a merged list.

use std::collections::HashMap;

use serde_json::Value;

use super::StrategicPatchError;

/// How items of a list are told apart: by a field, or as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) enum Identity<'a> {
    Field(&'a str),
    Whole,
}

impl<'a> Identity<'a> {
    pub(super) fn new(merge_key: Option<&'a str>) -> Self {
        merge_key.map_or(Self::Whole, Self::Field)
    }

    /// What tells an item apart; an error where it has no such field.
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

/// Where the items of a list stand, found by what tells them apart: a patch may have tens of
/// thousands of them.
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
        for (place, item) in items.iter().enumerate() {
            places.add(item, place);
        }
        places
    }

    /// Notes where an item stands, unless an equal one was noted before.
    pub(super) fn add(&mut self, item: &Value, place: usize) {
        if let Ok(found) = self.identity.of(item) {
            self.first.entry(found.to_string()).or_insert(place);
        }
    }

    /// The first place of an item that is equal to this one.
    pub(super) fn get(&self, item: &Value) -> Option<usize> {
        let wanted = self.identity.of(item).ok()?;
        self.first.get(&wanted.to_string()).copied()
    }
}

/// Puts the items of a merged list in order: those that `wanted` names in its order, the others
/// among them as `live` had them.
pub(super) fn arrange(
    merged: Vec<Value>,
    wanted: &[Value],
    live: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, StrategicPatchError> {
    for item in merged.iter().chain(wanted) {
        identity.of(item)?;
    }
    let wanted = Places::of(wanted, identity);
    let live = Places::of(live, identity);
    let placed = merged.into_iter().map(|item| Placed {
        wanted: wanted.get(&item),
        live: live.get(&item),
        item,
    });
    let (mut named, mut others): (Vec<Placed>, Vec<Placed>) =
        placed.partition(|placed| placed.wanted.is_some());
    named.sort_by_key(|placed| placed.wanted);
    others.sort_by_key(|placed| placed.live.unwrap_or(usize::MAX));
    Ok(interleave(others, named))
}

/// An item, and where the wanted order and the live list have it.
struct Placed {
    item: Value,
    wanted: Option<usize>,
    live: Option<usize>,
}

/// Inserts each of `others` before the first of `named` that the live list has behind it.
fn interleave(others: Vec<Placed>, named: Vec<Placed>) -> Vec<Value> {
    let mut result = Vec::with_capacity(others.len() + named.len());
    let mut others = others.into_iter().peekable();
    for next in named {
        let is_before = |other: &Placed| match (other.live, next.live) {
            (Some(other), Some(next)) => other < next,
            _ => false,
        };
        while let Some(other) = others.next_if(is_before) {
            result.push(other.item);
        }
        result.push(next.item);
    }
    result.extend(others.map(|other| other.item));
    result
}

/// The items of the patch must stand in the order that the patch asks for, and all be named in it.
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
        let mut found = false;
        for one in wanted_items.by_ref() {
            if identity.of(one)? == sought {
                found = true;
                break;
            }
        }
        if !found {
            let (patch, wanted) = (
                super::error::print_list(patch),
                super::error::print_list(wanted),
            );
            return Err(StrategicPatchError::Mismatch(format!(
                "The order in patch list:\n{patch}\n doesn't match {} list:\n{wanted}\n",
                super::ELEMENT_ORDER
            )));
        }
    }
    Ok(())
}

fn has_directive(item: &Value) -> bool {
    item.get(super::DIRECTIVE).is_some()
}
