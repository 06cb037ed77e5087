use serde_json::Value;

use super::error::print_list;
use super::map::merge_map;
use super::order::{Identity, arrange};
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
        let mut seen: Vec<Value> = Vec::new();
        merged.retain(|item| {
            let is_new = !seen.contains(item);
            if is_new {
                seen.push(item.clone());
            }
            is_new
        });
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
    let kept = original.into_iter().filter(|item| !deleted.contains(item));
    kept.collect()
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
                original.retain(|one| one.get(key) != Some(gone));
            }
            Some("replace") => replaces = true,
            Some("merge") => {
                let message = "merging lists cannot yet be specified in the patch".to_owned();
                return Err(StrategicPatchError::Mismatch(message));
            }
            _ => return Err(StrategicPatchError::unknown_directive(directive, members)),
        }
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
    for change in patch {
        let Some(members) = change.as_object() else {
            continue;
        };
        let wanted = members
            .get(key)
            .ok_or_else(|| StrategicPatchError::no_merge_key(members, key))?;
        let found = original.iter_mut().find(|one| one.get(key) == Some(wanted));
        match found.and_then(Value::as_object_mut) {
            Some(stored) => merge_map(stored, members.clone(), item)?,
            None => original.push(change.clone()),
        }
    }
    Ok(original)
}
