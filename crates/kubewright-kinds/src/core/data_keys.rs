//! The keys and values of ConfigMaps and Secrets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kubewright_core::format::config_key;
use serde_json::Value;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::text;

/// The most bytes of data that a ConfigMap or Secret may have.
pub(super) const LARGEST: usize = 1024 * 1024;

pub(super) fn validate_key(at: FieldPath<'_>, key: &str, errors: &mut ErrorList) {
    for problem in config_key(key) {
        errors.invalid_value(at, &Value::from(key), &problem);
    }
}

/// The decoded value; empty when it is not base64.
pub(super) fn decoded(value: &Value) -> Vec<u8> {
    STANDARD.decode(text(value)).unwrap_or_default()
}

/// Requires an object that is marked `immutable` to keep its data and the mark.
pub(super) fn validate_immutable(
    object: &Value,
    old: &Value,
    fields: &[&str],
    errors: &mut ErrorList,
) {
    const DETAIL: &str = "field is immutable when `immutable` is set";
    if old["immutable"] != Value::Bool(true) {
        return;
    }
    if object["immutable"] != Value::Bool(true) {
        errors.forbidden(FieldPath::new(object, "immutable"), DETAIL);
    }
    for field in fields {
        if object.get(field) != old.get(field) {
            errors.forbidden(FieldPath::new(object, field), DETAIL);
        }
    }
}
