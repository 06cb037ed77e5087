//! Kubernetes' extensions of OpenAPI schemas.

use serde_json::Value;

use super::error::OpenApiError;
use crate::schema::types::{ListType, PatchStrategy};

/// The list type for server-side apply; without its own extension, from the strategic merge
/// strategy.
pub(super) fn list_type_of(node: &Value, place: &str) -> Result<ListType, OpenApiError> {
    let text = |name: &str| node.get(name).and_then(Value::as_str);
    match text("x-kubernetes-list-type") {
        Some("atomic") => return Ok(ListType::Atomic),
        Some("set") => return Ok(ListType::Set),
        Some("map") => {
            let keys: Vec<String> = node
                .get("x-kubernetes-list-map-keys")
                .and_then(Value::as_array)
                .map(|keys| {
                    keys.iter()
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect()
                })
                .unwrap_or_default();
            if keys.is_empty() {
                return Err(OpenApiError::new(place, "a list of type map has no keys"));
            }
            return Ok(ListType::Map(keys));
        }
        Some(other) => {
            return Err(OpenApiError::new(
                place,
                format!("there is no list type {other:?}"),
            ));
        }
        None => {}
    }
    Ok(match text("x-kubernetes-patch-strategy") {
        Some("merge" | "merge,retainKeys") => match text("x-kubernetes-patch-merge-key") {
            Some(key) => ListType::Map(vec![key.to_owned()]),
            None => ListType::Set,
        },
        _ => ListType::Atomic,
    })
}

/// Whether a struct or map is atomic; `None` without the extension.
pub(super) fn atomic_of(node: &Value, place: &str) -> Result<Option<bool>, OpenApiError> {
    match node.get("x-kubernetes-map-type").and_then(Value::as_str) {
        None => Ok(None),
        Some("atomic") => Ok(Some(true)),
        Some("granular") => Ok(Some(false)),
        Some(other) => Err(OpenApiError::new(
            place,
            format!("there is no map type {other:?}"),
        )),
    }
}

/// The strategic merge strategy of a property.
pub(super) fn patch_of(property: &Value) -> Option<PatchStrategy> {
    let strategy = property.get("x-kubernetes-patch-strategy")?.as_str()?;
    let key = property
        .get("x-kubernetes-patch-merge-key")
        .and_then(Value::as_str);
    Some(PatchStrategy {
        merge: strategy.split(',').any(|part| part == "merge"),
        retain_keys: strategy.split(',').any(|part| part == "retainKeys"),
        merge_key: key.map(str::to_owned),
    })
}

/// Whether an extension is true.
pub(super) fn is_true(node: &Value, name: &str) -> bool {
    node.get(name).and_then(Value::as_bool).unwrap_or_default()
}
