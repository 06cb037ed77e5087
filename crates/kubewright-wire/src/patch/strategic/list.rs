//! Lists in a strategic merge patch.

use std::collections::HashSet;

use serde_json::Value;

use super::error::print_list;
use super::map::merge_map;
use super::order::{Identity, Places, arrange};
use super::{DIRECTIVE, StrategicPatchError};
use crate::schema::SchemaType;

/// What a list is to a strategic merge patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListMeta<'s> {
    pub(super) item: Option<SchemaType<'s>>,
    /// Whether it is merged; otherwise the patch replaces it.
    pub(super) merges: bool,
    pub(super) merge_key: Option<&'s str>,
}

/// The one kind of items that lists hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Items {
    Maps,
    Scalars,
}

/// Merges a list of the patch into the stored one, or replaces it.
pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    meta: ListMeta<'_>,
) -> Result<Vec<Value>, StrategicPatchError> {
    if !meta.merges {
        return Ok(patch);
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if items(&original, &patch)? == Items::Scalars {
        let mut merged = original.clone();
        merged.extend(patch.iter().cloned());
        let mut seen = HashSet::new();
        merged.retain(|item| seen.insert(item.to_string()));
        return arrange(merged, &patch, &original, Identity::Whole);
    }
    let Some(key) = meta.merge_key else {
        let message = "cannot merge lists without merge key for struct".to_owned();
        return Err(StrategicPatchError::Mismatch(message));
    };
    let (original, patch) = carry_out(original, patch, key)?;
    let live = original.clone();
    let merged = merge_items(original, &patch, key, meta.item)?;
    arrange(merged, &patch, &live, Identity::Field(key))
}

/// Takes the scalars of `deleted` out of a list.
pub(super) fn delete_from(original: Vec<Value>, deleted: &[Value]) -> Vec<Value> {
    let deleted: HashSet<String> = deleted.iter().map(Value::to_string).collect();
    let kept = original.into_iter();
    kept.filter(|item| !deleted.contains(&item.to_string()))
        .collect()
}

/// All items must be of one type, and none a list.
fn items(original: &[Value], patch: &[Value]) -> Result<Items, StrategicPatchError> {
    let mut all = original.iter().chain(patch);
    let Some(first) = all.next() else {
        let message = "no elements in any of the given slices".to_owned();
        return Err(StrategicPatchError::Mismatch(message));
    };
    if first.is_array() {
        return Err(StrategicPatchError::ListOfLists);
    }
    if all.any(|item| std::mem::discriminant(item) != std::mem::discriminant(first)) {
        let (original, patch) = (print_list(original), print_list(patch));
        return Err(StrategicPatchError::Mismatch(format!(
            "list element types are not identical: [{original} {patch}]"
        )));
    }
    Ok(match first.is_object() {
        true => Items::Maps,
        false => Items::Scalars,
    })
}

/// The same check for a list whose order alone is given.
pub(super) fn check_items(original: &[Value], patch: &[Value]) -> Result<(), StrategicPatchError> {
    items(original, patch).map(|_| ())
}

/// Does what `$patch` says in single items, and takes those out of the patch.
fn carry_out(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), StrategicPatchError> {
    let mut plain = Vec::new();
    let mut deleted = HashSet::new();
    let mut replaces = false;
    for item in patch {
        let Some(members) = item.as_object() else {
            continue;
        };
        let Some(directive) = members.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let gone = members
                    .get(key)
                    .ok_or_else(|| StrategicPatchError::no_merge_key(members, key))?;
                deleted.insert(gone.to_string());
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                let message = "merging lists cannot yet be specified in the patch".to_owned();
                return Err(StrategicPatchError::Mismatch(message));
            }
            _ => return Err(StrategicPatchError::unknown_directive(directive, members)),
        }
    }
    if !deleted.is_empty() {
        let is_deleted = |value: &Value| deleted.contains(&value.to_string());
        original.retain(|item| !item.get(key).is_some_and(is_deleted));
    }
    Ok(match replaces {
        true => (plain, Vec::new()),
        false => (original, plain),
    })
}

fn merge_items(
    mut original: Vec<Value>,
    patch: &[Value],
    key: &str,
    item: Option<SchemaType<'_>>,
) -> Result<Vec<Value>, StrategicPatchError> {
    let mut places = Places::of(&original, Identity::Field(key));
    for change in patch {
        let Some(members) = change.as_object() else {
            continue;
        };
        if !members.contains_key(key) {
            return Err(StrategicPatchError::no_merge_key(members, key));
        }
        let found = places.get(change).and_then(|place| original.get_mut(place));
        match found.and_then(Value::as_object_mut) {
            Some(stored) => merge_map(stored, members.clone(), item)?,
            None => {
                places.add(change, original.len());
                original.push(change.clone());
            }
        }
    }
    Ok(original)
}
