use kubewright_wire::patch::{JsonPatchError, json_patch_operations};
use serde_json::Value;

/// Why operations were not carried out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotPatched {
    /// A `test` found something else.
    TestFailed(String),
    /// One of them does not fit the object.
    Inapplicable(String),
}

/// The object after the operations of a JSON patch; what is wrong is told in the words of
/// `gopkg.in/evanphx/json-patch.v4`.
pub(super) fn patched(object: &Value, operations: &[Value]) -> Result<Value, NotPatched> {
    let mut patched = object.clone();
    match json_patch_operations(&mut patched, operations) {
        Ok(()) => Ok(patched),
        Err((place, error)) => {
            let operation = operations.get(place).unwrap_or(&Value::Null);
            Err(not_patched(&patched, operation, &error))
        }
    }
}

fn not_patched(object: &Value, operation: &Value, error: &JsonPatchError) -> NotPatched {
    match error {
        JsonPatchError::Missing(_) => NotPatched::Inapplicable(missing(operation)),
        JsonPatchError::TestFailed(path) => {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            match object.pointer(parent) {
                Some(_) => {
                    NotPatched::TestFailed(format!("testing value {path} failed: test failed"))
                }
                None => NotPatched::Inapplicable(format!(
                    "test operation does not apply: is missing path: {path}: missing value"
                )),
            }
        }
        JsonPatchError::Malformed(_) | JsonPatchError::TooMany(_) | JsonPatchError::Failed(_) => {
            NotPatched::Inapplicable(error.to_string())
        }
    }
}

/// What is told of an operation that is about what is not there.
fn missing(operation: &Value) -> String {
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

    use super::{NotPatched, patched};

    #[test]
    fn a_failed_test_is_told_apart_from_what_does_not_fit() {
        let object = json!({"a": {"b": 1}});
        let one = |operation| patched(&object, &[operation]);
        let added = one(json!({"op": "add", "path": "/a/c", "value": 2}));
        assert_eq!(added, Ok(json!({"a": {"b": 1, "c": 2}})));
        assert_eq!(
            one(json!({"op": "test", "path": "/a/b", "value": 2})),
            Err(NotPatched::TestFailed(
                "testing value /a/b failed: test failed".to_owned()
            ))
        );
        assert_eq!(
            one(json!({"op": "test", "path": "/x/y", "value": 2})),
            Err(NotPatched::Inapplicable(
                "test operation does not apply: is missing path: /x/y: missing value".to_owned()
            ))
        );
        assert_eq!(
            one(json!({"op": "add", "path": "/x/y", "value": 2})),
            Err(NotPatched::Inapplicable(
                "add operation does not apply: doc is missing path: \"/x/y\": missing value"
                    .to_owned()
            ))
        );
    }

    #[test]
    fn the_limits_are_those_of_the_whole_patch_and_told_as_such() {
        let object = json!({"s": "x".repeat(1 << 20)});
        let copy = |place: usize| json!({"op": "copy", "from": "/s", "path": format!("/s{place}")});
        let copies = |count: usize| patched(&object, &(0..count).map(copy).collect::<Vec<_>>());
        assert!(copies(2).is_ok());
        let Err(NotPatched::Inapplicable(told)) = copies(4) else {
            panic!("copied");
        };
        assert!(told.starts_with("Unable to complete the copy"), "{told}");
        let test = json!({"op": "test", "path": "/x", "value": null});
        assert_eq!(
            patched(&object, &vec![test; 10_001]),
            Err(NotPatched::Inapplicable(
                "10001 operations are too many".to_owned()
            ))
        );
        let deep = (0..200).fold(json!(null), |below, _| json!([below]));
        let add = json!({"op": "add", "path": "/d", "value": deep});
        assert_eq!(
            patched(&object, &[add]),
            Err(NotPatched::Inapplicable(
                "/d: nested deeper than 127".to_owned()
            ))
        );
    }
}
