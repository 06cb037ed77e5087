//! Fields of definitions that several rules read.

use kubewright_wire::status::Cause;
use serde_json::Value;

use crate::json::text;

/// Whether a definition has `preserveUnknownFields`, which only older versions could set.
pub(super) fn preserves_unknown_fields(definition: &Value) -> bool {
    definition["spec"]["preserveUnknownFields"] == true
}

/// The error of a string that is not one of the supported values.
pub(super) fn one_of(path: &str, value: &Value, supported: &[&str]) -> Option<Cause> {
    match text(value) {
        "" => Some(Cause::required(path, "")),
        given if supported.contains(&given) => None,
        _ => Some(Cause::not_supported(path, value, supported)),
    }
}
