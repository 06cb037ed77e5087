//! Lists in a strategic merge patch: item types and item directives.

use std::collections::HashSet;

use serde_json::Value;

use super::directive::DIRECTIVE;
use super::error::{StrategicPatchError, print_list};
use crate::schema::SchemaType;

/// The merge strategy of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListMeta<'s> {
    pub(super) item: Option<SchemaType<'s>>,
    /// Whether the patch is merged into it; otherwise the patch replaces it.
    pub(super) merges: bool,
    pub(super) merge_key: Option<&'s str>,
}

/// The type of all items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Items {
    Maps,
    Scalars,
}

/// Removes the scalars of `deleted` from a list.
pub(super) fn delete_from(original: Vec<Value>, deleted: &[Value]) -> Vec<Value> {
    let texts: HashSet<String> = deleted.iter().map(Value::to_string).collect();
    original
        .into_iter()
        .filter(|item| !texts.contains(&item.to_string()))
        .collect()
}

/// The type of the items, which must be the same for all, and not a list.
pub(super) fn items(original: &[Value], patch: &[Value]) -> Result<Items, StrategicPatchError> {
    let mut all = original.iter().chain(patch);
    let Some(first) = all.next() else {
        let message = "no elements in any of the given slices".to_owned();
        return Err(StrategicPatchError::Mismatch(message));
    };
    if first.is_array() {
        return Err(StrategicPatchError::ListOfLists);
    }
    if all.any(|item| std::mem::discriminant(item) != std::mem::discriminant(first)) {
        return Err(StrategicPatchError::Mismatch(format!(
            "list element types are not identical: [{} {}]",
            print_list(original),
            print_list(patch)
        )));
    }
    Ok(if first.is_object() {
        Items::Maps
    } else {
        Items::Scalars
    })
}

/// Checks that all items have one type that is not a list.
pub(super) fn check_items(original: &[Value], patch: &[Value]) -> Result<(), StrategicPatchError> {
    items(original, patch).map(|_| ())
}

/// Applies the `$patch` directives of single items, and removes these items from the patch.
pub(super) fn apply_item_directives(
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
                let value = members
                    .get(key)
                    .ok_or_else(|| StrategicPatchError::no_merge_key(members, key))?;
                deleted.insert(value.to_string());
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
    Ok(if replaces {
        (plain, Vec::new())
    } else {
        (original, plain)
    })
}
