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

    fn position(&self, order: &[Value], item: &Value) -> Option<usize> {
        let wanted = self.of(item).ok()?;
        order
            .iter()
            .position(|one| self.of(one).is_ok_and(|found| found == wanted))
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
    let (mut named, mut others): (Vec<Value>, Vec<Value>) = merged
        .into_iter()
        .partition(|item| identity.position(wanted, item).is_some());
    named.sort_by_key(|item| identity.position(wanted, item));
    others.sort_by_key(|item| identity.position(live, item).unwrap_or(usize::MAX));
    Ok(interleave(others, named, live, identity))
}

/// Inserts each of `others` before the first of `named` that the live list has behind it.
fn interleave(
    others: Vec<Value>,
    named: Vec<Value>,
    live: &[Value],
    identity: Identity<'_>,
) -> Vec<Value> {
    let mut result = Vec::with_capacity(others.len() + named.len());
    let mut others = others.into_iter().peekable();
    for item in named {
        let place = identity.position(live, &item);
        while let Some(other) = others.peek() {
            let before = match (identity.position(live, other), place) {
                (Some(other), Some(place)) => other < place,
                _ => false,
            };
            if !before {
                break;
            }
            result.extend(others.next());
        }
        result.push(item);
    }
    result.extend(others);
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
