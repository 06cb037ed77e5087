//! The JSON patch in the response of a mutating webhook.

use serde_json::Value;

use crate::admission::json_patch::{self, JsonPatchFailure};

/// Why the patch of a webhook cannot be applied.
pub(super) enum PatchFailure {
    /// It is not a JSON patch: the webhook failed.
    Undecodable(String),
    /// It does not fit the object: the request fails, whatever the failure policy.
    Inapplicable(String),
}

/// Applies the patch of a webhook; none when it is empty.
pub(super) fn patched(object: &Value, patch: &[u8]) -> Result<Option<Value>, PatchFailure> {
    let operations: Vec<Value> = serde_json::from_slice(patch)
        .map_err(|error| PatchFailure::Undecodable(go_json_error(patch, &error)))?;
    if operations.is_empty() {
        return Ok(None);
    }
    match json_patch::patched(object, &operations) {
        Ok(patched) => Ok(Some(patched)),
        Err(JsonPatchFailure::TestFailed(why) | JsonPatchFailure::Inapplicable(why)) => {
            Err(PatchFailure::Inapplicable(why))
        }
    }
}

/// The error of Go's decoder, for the two common cases.
fn go_json_error(patch: &[u8], error: &serde_json::Error) -> String {
    match serde_json::from_slice::<Value>(patch) {
        Ok(Value::Object(_)) => {
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch".to_owned()
        }
        Ok(Value::String(_)) => {
            "json: cannot unmarshal string into Go value of type jsonpatch.Patch".to_owned()
        }
        _ => error.to_string(),
    }
}
