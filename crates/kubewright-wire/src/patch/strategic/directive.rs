//! Directives of a strategic merge patch.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::error::StrategicPatchError;

/// Replaces, deletes or merges the struct, map or list that contains it.
pub(super) const DIRECTIVE: &str = "$patch";
/// Before the name of a list of scalars: the items to delete.
pub(super) const DELETE_FROM: &str = "$deleteFromPrimitiveList";
/// Before the name of a list: the order of its items.
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder";
/// The fields of a struct that stay; all others are removed.
pub(super) const RETAIN_KEYS: &str = "$retainKeys";

/// The name in a directive such as `$setElementOrder/containers`; `None` for another directive.
pub(super) fn name_after<'n>(
    name: &'n str,
    directive: &str,
    malformed: StrategicPatchError,
) -> Result<Option<&'n str>, StrategicPatchError> {
    match name.strip_prefix(directive) {
        None => Ok(None),
        Some(rest) => rest.strip_prefix('/').map(Some).ok_or(malformed),
    }
}

/// Removes the fields that `$retainKeys` does not list. The patch may not set others.
pub(super) fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), StrategicPatchError> {
    let Some(value) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let names: HashSet<&str> = value
        .as_array()
        .ok_or(StrategicPatchError::RetainKeys)?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let is_kept = |name: &String| names.contains(name.as_str());
    let is_directive =
        |name: &str| name.starts_with(DELETE_FROM) || name.starts_with(ELEMENT_ORDER);
    let mut set = patch.iter();
    if set.any(|(name, value)| !value.is_null() && !is_directive(name) && !is_kept(name)) {
        return Err(StrategicPatchError::RetainKeys);
    }
    original.retain(|name, _| is_kept(name));
    Ok(())
}

/// Removes nulls from a value that is new to the object, where they have no effect.
pub(super) fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// A value that is new to the object, without directives; `None` when nothing is left.
pub(super) fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => {
            let kept = members
                .into_iter()
                .filter_map(|(name, member)| Some((name, without_directives(member)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => {
            let kept = items.into_iter().filter_map(without_directives);
            Some(Value::Array(kept.collect()))
        }
        scalar => Some(scalar),
    }
}
