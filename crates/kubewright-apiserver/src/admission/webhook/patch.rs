use serde_json::{Value, json};

use crate::request::json_patch;

/// Why the patch of a webhook was not applied.
pub(super) enum PatchFailure {
    /// It is no JSON patch: the webhook failed.
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
    let mut patched = object.clone();
    for operation in operations {
        let one = json!([operation]);
        if let Err(error) = json_patch(&mut patched, &one) {
            let message = go_message(&operation).unwrap_or_else(|| error.to_string());
            return Err(PatchFailure::Inapplicable(message));
        }
    }
    Ok(Some(patched))
}

/// What `gopkg.in/evanphx/json-patch.v4` says of an operation that does not apply.
fn go_message(operation: &Value) -> Option<String> {
    let text = |field: &str| operation[field].as_str().unwrap_or_default();
    let (path, from) = (text("path"), text("from"));
    let message = match text("op") {
        "add" => {
            format!("add operation does not apply: doc is missing path: \"{path}\": missing value")
        }
        "remove" => {
            let key = path.rsplit('/').next().unwrap_or_default();
            format!(
                "error in remove for path: '{path}': Unable to remove nonexistent key: {key}: \
                 missing value"
            )
        }
        "replace" => {
            format!("replace operation does not apply: doc is missing path: {path}: missing value")
        }
        "move" => {
            format!(
                "move operation does not apply: doc is missing from path: {from}: missing value"
            )
        }
        "copy" => {
            format!(
                "copy operation does not apply: doc is missing from path: {from}: missing value"
            )
        }
        "test" => format!("testing value {path} failed: test failed"),
        kind => format!("Unexpected kind: {kind}"),
    };
    Some(message)
}

/// What Go's decoder says of a patch that is none, for the two common cases.
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
