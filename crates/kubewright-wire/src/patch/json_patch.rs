//! JSON patches (RFC 6902), as the library of Kubernetes applies them.

use serde::Deserialize;
use serde_json::Value;

use kubewright_core::interrupt;

const MAX_OPERATIONS: usize = 10_000;
/// The most bytes that the copies of a patch add, as in Kubernetes (`JSONPatchMaxCopyBytes`).
const MAX_COPIED: usize = 3 * 1024 * 1024;
/// The deepest nesting of an object, as for JSON bodies.
pub const MAX_DEPTH: usize = 127;

/// An error of a JSON patch.
#[derive(Debug, thiserror::Error)]
pub enum JsonPatchError {
    /// It is not a JSON patch.
    #[error("{0}")]
    Malformed(String),
    /// It has too many operations.
    #[error("{0} operations are too many")]
    TooMany(usize),
    /// The path of an operation does not exist.
    #[error("missing path: {0}")]
    Missing(String),
    /// A test found another value.
    #[error("testing value {0} failed")]
    TestFailed(String),
    /// An operation failed.
    #[error("{0}")]
    Failed(String),
}

#[derive(Deserialize)]
struct Operation {
    op: String,
    path: String,
    from: Option<String>,
    #[serde(default, deserialize_with = "present")]
    value: Option<Value>,
}

/// Distinguishes a `null` from an absent value.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Applies a patch (RFC 6902) as the library of Kubernetes does: `replace` of a missing member of an
/// object adds it.
pub fn json_patch(document: &mut Value, patch: &Value) -> Result<(), JsonPatchError> {
    let operations: Vec<Operation> = Vec::deserialize(patch).map_err(|error| malformed(&error))?;
    apply_all(document, &operations).map_err(|(_, error)| error)
}

/// Applies the operations of a patch; an error has the index of the failed operation.
pub fn json_patch_operations(
    document: &mut Value,
    patch: &[Value],
) -> Result<(), (usize, JsonPatchError)> {
    let mut operations: Vec<Operation> = Vec::with_capacity(patch.len());
    for (index, operation) in patch.iter().enumerate() {
        let read = Operation::deserialize(operation);
        operations.push(read.map_err(|error| (index, malformed(&error)))?);
    }
    apply_all(document, &operations)
}

fn malformed(error: &serde_json::Error) -> JsonPatchError {
    JsonPatchError::Malformed(format!("error decoding patch: {error}"))
}

fn apply_all(
    document: &mut Value,
    operations: &[Operation],
) -> Result<(), (usize, JsonPatchError)> {
    if operations.len() > MAX_OPERATIONS {
        return Err((MAX_OPERATIONS, JsonPatchError::TooMany(operations.len())));
    }
    let mut copied = 0;
    for (index, operation) in operations.iter().enumerate() {
        // An operation may traverse the whole document.
        if interrupt::is_requested() {
            return Err((index, JsonPatchError::Failed("interrupted".to_owned())));
        }
        apply(document, operation, &mut copied).map_err(|error| (index, error))?;
    }
    Ok(())
}

fn apply(
    document: &mut Value,
    operation: &Operation,
    copied: &mut usize,
) -> Result<(), JsonPatchError> {
    let path = operation.path.as_str();
    let value = || {
        let value = operation.value.clone();
        value.ok_or_else(|| JsonPatchError::Failed(format!("{path}: no value")))
    };
    let from = || {
        let from = operation.from.as_deref();
        from.ok_or_else(|| JsonPatchError::Failed(format!("{path}: no from")))
    };
    match operation.op.as_str() {
        "add" => add(document, path, value()?),
        "remove" => remove(document, path).map(drop),
        "replace" => replace(document, path, value()?),
        "move" => {
            let moved = remove(document, from()?)?;
            add(document, path, moved)
        }
        "copy" => {
            let from_path = from()?;
            let source = document
                .pointer(from_path)
                .ok_or_else(|| missing(from_path))?;
            *copied += encoded_length(source);
            if *copied > MAX_COPIED {
                return Err(JsonPatchError::Failed(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is \
                     {copied}, exceeding the limit {MAX_COPIED}"
                )));
            }
            let copy = source.clone();
            add(document, path, copy)
        }
        "test" => {
            if document.pointer(path).unwrap_or(&Value::Null) == &value()? {
                Ok(())
            } else {
                Err(JsonPatchError::TestFailed(path.to_owned()))
            }
        }
        other => Err(JsonPatchError::Failed(format!("Unexpected kind: {other}"))),
    }
}

/// The parent value of a path, and its last segment.
fn parent<'a>(
    document: &'a mut Value,
    path: &str,
) -> Result<(&'a mut Value, String), JsonPatchError> {
    let (parent, escaped) = path.rsplit_once('/').ok_or_else(|| missing(path))?;
    let found = document.pointer_mut(parent);
    let last = escaped.replace("~1", "/").replace("~0", "~");
    Ok((found.ok_or_else(|| missing(path))?, last))
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    check_depth(path, &value)?;
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let (parent, last) = parent(document, path)?;
    match parent {
        Value::Object(members) => {
            members.insert(last, value);
            Ok(())
        }
        Value::Array(items) => {
            let index = match last.as_str() {
                "-" => Some(items.len()),
                text => text.parse().ok().filter(|index| *index <= items.len()),
            };
            items.insert(index.ok_or_else(|| missing(path))?, value);
            Ok(())
        }
        _ => Err(missing(path)),
    }
}

fn remove(document: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
    let (parent, last) = parent(document, path)?;
    let removed = match parent {
        Value::Object(members) => members.remove(&last),
        Value::Array(items) => {
            let index = last.parse().ok().filter(|index| *index < items.len());
            index.map(|index: usize| items.remove(index))
        }
        _ => None,
    };
    removed.ok_or_else(|| missing(path))
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    check_depth(path, &value)?;
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    let (parent, last) = parent(document, path)?;
    match parent {
        Value::Object(members) => {
            members.insert(last, value);
            Ok(())
        }
        Value::Array(items) => {
            let item = last
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index));
            *item.ok_or_else(|| missing(path))? = value;
            Ok(())
        }
        _ => Err(missing(path)),
    }
}

/// Each operation is checked, so that the document never nests too deeply for recursion.
fn check_depth(path: &str, value: &Value) -> Result<(), JsonPatchError> {
    if path.matches('/').count() + depth(value) > MAX_DEPTH {
        return Err(JsonPatchError::Failed(format!(
            "{path}: nested deeper than {MAX_DEPTH}"
        )));
    }
    Ok(())
}

/// The levels of lists and objects in a value.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn encoded_length(value: &Value) -> usize {
    let escaped = |text: &str| text.len() + 2;
    match value {
        Value::Array(items) => {
            items
                .iter()
                .map(|item| encoded_length(item) + 1)
                .sum::<usize>()
                + 2
        }
        Value::Object(members) => {
            let lengths = members
                .iter()
                .map(|(name, member)| escaped(name) + encoded_length(member) + 2);
            lengths.sum::<usize>() + 2
        }
        Value::String(text) => escaped(text),
        other => other.to_string().len(),
    }
}

fn missing(path: &str) -> JsonPatchError {
    JsonPatchError::Missing(path.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{JsonPatchError, json_patch};

    fn patched(patch: Value) -> Result<Value, JsonPatchError> {
        let mut document = json!({"a": {"b": 1}, "l": [1, 2]});
        json_patch(&mut document, &patch).map(|()| document)
    }

    #[test]
    fn each_operation_follows_the_rfc() {
        for (patch, path, expected) in [
            (
                json!([{"op": "add", "path": "/a/c~1d", "value": null}]),
                "/a/c~1d",
                json!(null),
            ),
            (
                json!([{"op": "add", "path": "/l/1", "value": 9}]),
                "/l",
                json!([1, 9, 2]),
            ),
            (
                json!([{"op": "add", "path": "/l/-", "value": 9}]),
                "/l",
                json!([1, 2, 9]),
            ),
            (json!([{"op": "remove", "path": "/l/0"}]), "/l", json!([2])),
            (
                json!([{"op": "replace", "path": "/a/new", "value": 2}]),
                "/a/new",
                json!(2),
            ),
            (
                json!([{"op": "move", "from": "/a/b", "path": "/m"}]),
                "/m",
                json!(1),
            ),
            (
                json!([{"op": "copy", "from": "/l", "path": "/m"}]),
                "/m",
                json!([1, 2]),
            ),
            (
                json!([{"op": "test", "path": "/a/b", "value": 1}]),
                "/a/b",
                json!(1),
            ),
        ] {
            let document = patched(patch.clone()).unwrap();
            assert_eq!(document.pointer(path), Some(&expected), "{patch}");
        }
    }

    #[test]
    fn invalid_operations_fail() {
        for patch in [
            json!([{"op": "remove", "path": "/x"}]),
            json!([{"op": "add", "path": "/x/y", "value": 1}]),
            json!([{"op": "add", "path": "/l/7", "value": 1}]),
        ] {
            assert!(matches!(patched(patch), Err(JsonPatchError::Missing(_))));
        }
        let other = json!([{"op": "test", "path": "/a/b", "value": 2}]);
        assert!(matches!(patched(other), Err(JsonPatchError::TestFailed(_))));
        let unknown = json!([{"op": "fly", "path": "/a"}]);
        assert!(matches!(patched(unknown), Err(JsonPatchError::Failed(_))));
        assert!(matches!(
            patched(json!({})),
            Err(JsonPatchError::Malformed(_))
        ));
    }

    #[test]
    fn copies_beyond_the_limit_fail() {
        let long = "x".repeat(1 << 20);
        let copies = |count: usize| {
            let mut patch = vec![json!({"op": "add", "path": "/s", "value": long})];
            patch.extend(
                (0..count).map(|n| json!({"op": "copy", "from": "/s", "path": format!("/s{n}")})),
            );
            patched(Value::Array(patch))
        };
        assert!(copies(2).is_ok());
        assert!(matches!(copies(3), Err(JsonPatchError::Failed(_))));
    }

    #[test]
    fn operation_that_nests_too_deeply_fails() {
        let mut deep = json!({"x": {}});
        let mut path = String::from("/d/x");
        for _ in 0..100 {
            deep = json!({"x": deep});
            path.push_str("/x");
        }
        let add = json!({"op": "add", "path": "/d", "value": deep});
        assert!(patched(json!([add])).is_ok());
        for operation in [
            json!({"op": "copy", "from": "/d", "path": format!("{path}/y")}),
            json!({"op": "add", "path": path, "value": deep}),
            json!({"op": "replace", "path": path, "value": deep}),
        ] {
            let patch = json!([add, operation]);
            assert!(matches!(patched(patch), Err(JsonPatchError::Failed(_))));
        }
    }
}
