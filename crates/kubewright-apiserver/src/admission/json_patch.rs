//! Applies a JSON patch, with the errors of the Go library that Kubernetes uses.

use kubewright_wire::patch::{JsonPatchError, json_patch_operations};
use serde_json::Value;

/// Why a patch was not applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JsonPatchFailure {
    /// A `test` operation found another value.
    TestFailed(String),
    /// An operation does not fit the object.
    Inapplicable(String),
}

/// The object after the operations of a JSON patch. Error messages are those of
/// `gopkg.in/evanphx/json-patch.v4`.
pub(super) fn patched(object: &Value, operations: &[Value]) -> Result<Value, JsonPatchFailure> {
    let mut patched = object.clone();
    match json_patch_operations(&mut patched, operations) {
        Ok(()) => Ok(patched),
        Err((index, error)) => {
            let operation = operations.get(index).unwrap_or(&Value::Null);
            Err(failure(&patched, operation, &error))
        }
    }
}

fn failure(object: &Value, operation: &Value, error: &JsonPatchError) -> JsonPatchFailure {
    match error {
        JsonPatchError::Missing(_) => JsonPatchFailure::Inapplicable(missing_value(operation)),
        JsonPatchError::TestFailed(path) => {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            match object.pointer(parent) {
                Some(_) => JsonPatchFailure::TestFailed(format!(
                    "testing value {path} failed: test failed"
                )),
                None => JsonPatchFailure::Inapplicable(format!(
                    "test operation does not apply: is missing path: {path}: missing value"
                )),
            }
        }
        JsonPatchError::Malformed(_) | JsonPatchError::TooMany(_) | JsonPatchError::Failed(_) => {
            JsonPatchFailure::Inapplicable(error.to_string())
        }
    }
}

/// The message for an operation on a path that does not exist.
fn missing_value(operation: &Value) -> String {
    let text = |field: &str| operation[field].as_str().unwrap_or_default();
    let (path, from) = (text("path"), text("from"));
    let what = match text("op") {
        "remove" => {
            let key = path.rsplit('/').next().unwrap_or_default();
            format!("error in remove for path: '{path}': Unable to remove nonexistent key: {key}")
        }
        "replace" => format!("replace operation does not apply: doc is missing path: {path}"),
        kind @ ("move" | "copy") => {
            format!("{kind} operation does not apply: doc is missing from path: {from}")
        }
        kind => format!("{kind} operation does not apply: doc is missing path: \"{path}\""),
    };
    format!("{what}: missing value")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{JsonPatchFailure, patched};

    #[test]
    fn failed_test_is_distinguished_from_a_missing_path() {
        let object = json!({"a": {"b": 1}});
        let apply = |operation| patched(&object, &[operation]);
        let added = apply(json!({"op": "add", "path": "/a/c", "value": 2}));
        assert_eq!(added, Ok(json!({"a": {"b": 1, "c": 2}})));
        assert_eq!(
            apply(json!({"op": "test", "path": "/a/b", "value": 2})),
            Err(JsonPatchFailure::TestFailed(
                "testing value /a/b failed: test failed".to_owned()
            ))
        );
        assert_eq!(
            apply(json!({"op": "test", "path": "/x/y", "value": 2})),
            Err(JsonPatchFailure::Inapplicable(
                "test operation does not apply: is missing path: /x/y: missing value".to_owned()
            ))
        );
        assert_eq!(
            apply(json!({"op": "add", "path": "/x/y", "value": 2})),
            Err(JsonPatchFailure::Inapplicable(
                "add operation does not apply: doc is missing path: \"/x/y\": missing value"
                    .to_owned()
            ))
        );
    }

    #[test]
    fn limits_count_for_the_whole_patch() {
        let object = json!({"s": "x".repeat(1 << 20)});
        let copy = |index: usize| json!({"op": "copy", "from": "/s", "path": format!("/s{index}")});
        let copies = |count: usize| patched(&object, &(0..count).map(copy).collect::<Vec<_>>());
        assert!(copies(2).is_ok());
        let Err(JsonPatchFailure::Inapplicable(why)) = copies(4) else {
            panic!("four copies exceed the limit");
        };
        assert!(why.starts_with("Unable to complete the copy"), "{why}");
        let test = json!({"op": "test", "path": "/x", "value": null});
        assert_eq!(
            patched(&object, &vec![test; 10_001]),
            Err(JsonPatchFailure::Inapplicable(
                "10001 operations are too many".to_owned()
            ))
        );
        let deep = (0..200).fold(json!(null), |below, _| json!([below]));
        let add = json!({"op": "add", "path": "/d", "value": deep});
        assert_eq!(
            patched(&object, &[add]),
            Err(JsonPatchFailure::Inapplicable(
                "/d: nested deeper than 127".to_owned()
            ))
        );
    }
}
