use serde::Deserialize;
use serde_json::Value;

use crate::interrupt;

const MOST_OPERATIONS: usize = 10_000;
/// What all copies of a patch may add, as in Kubernetes (`JSONPatchMaxCopyBytes`).
const MOST_COPIED: usize = 3 * 1024 * 1024;
/// How deep an object may nest: as deep as a body in JSON.
pub(crate) const DEEPEST: usize = 127;

/// Why a JSON patch was not applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonPatchError {
    /// It is no JSON patch.
    #[error("{0}")]
    Malformed(String),
    /// It has too many operations.
    #[error("{0} operations are too many")]
    TooMany(usize),
    /// An operation is about what is not there.
    #[error("missing path: {0}")]
    Missing(String),
    /// A test found something else.
    #[error("testing value {0} failed")]
    TestFailed(String),
    /// An operation cannot be carried out.
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

/// A `null` that is there is a value.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Applies a patch (RFC 6902) as the library that Kubernetes uses does: replacing a missing member
/// of an object adds it.
pub(crate) fn json_patch(document: &mut Value, patch: &Value) -> Result<(), JsonPatchError> {
    let operations: Vec<Operation> = Vec::deserialize(patch).map_err(|error| malformed(&error))?;
    apply_all(document, &operations).map_err(|(_, error)| error)
}

/// The same; an error comes with the place of the operation that it is about.
pub(crate) fn json_patch_listed(
    document: &mut Value,
    patch: &[Value],
) -> Result<(), (usize, JsonPatchError)> {
    let mut operations: Vec<Operation> = Vec::with_capacity(patch.len());
    for (place, operation) in patch.iter().enumerate() {
        let read = Operation::deserialize(operation);
        operations.push(read.map_err(|error| (place, malformed(&error)))?);
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
    if operations.len() > MOST_OPERATIONS {
        return Err((MOST_OPERATIONS, JsonPatchError::TooMany(operations.len())));
    }
    let mut copied = 0;
    for (place, operation) in operations.iter().enumerate() {
        // Each may walk over the whole document.
        if interrupt::is_requested() {
            return Err((place, JsonPatchError::Failed("interrupted".to_owned())));
        }
        apply(document, operation, &mut copied).map_err(|error| (place, error))?;
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
            let from = from()?;
            let source = document.pointer(from).ok_or_else(|| missing(from))?;
            *copied += encoded_length(source);
            if *copied > MOST_COPIED {
                return Err(JsonPatchError::Failed(format!(
                    "Unable to complete the copy, the accumulated size increase of copy is \
                     {copied}, exceeding the limit {MOST_COPIED}"
                )));
            }
            let source = source.clone();
            add(document, path, source)
        }
        "test" => match document.pointer(path).unwrap_or(&Value::Null) == &value()? {
            true => Ok(()),
            false => Err(JsonPatchError::TestFailed(path.to_owned())),
        },
        other => Err(JsonPatchError::Failed(format!("Unexpected kind: {other}"))),
    }
}

/// The parent of a path and the last part of it.
fn parent<'a>(
    document: &'a mut Value,
    path: &str,
) -> Result<(&'a mut Value, String), JsonPatchError> {
    let (parent, last) = path.rsplit_once('/').ok_or_else(|| missing(path))?;
    let found = document.pointer_mut(parent);
    let last = last.replace("~1", "/").replace("~0", "~");
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

/// Nothing is put where it would lie too deep, so the document stays shallow throughout.
fn check_depth(path: &str, value: &Value) -> Result<(), JsonPatchError> {
    match path.matches('/').count() + height(value) > DEEPEST {
        true => Err(JsonPatchError::Failed(format!(
            "{path}: nested deeper than {DEEPEST}"
        ))),
        false => Ok(()),
    }
}

/// How many lists and objects of a value stand in one another.
pub(crate) fn height(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(height).max().unwrap_or(0),
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
    fn each_operation_does_what_the_standard_says() {
        for (patch, path, wanted) in [
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
            assert_eq!(document.pointer(path), Some(&wanted), "{patch}");
        }
    }

    #[test]
    fn what_does_not_fit_fails() {
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
    fn copies_grow_a_document_only_so_far() {
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
    fn no_operation_nests_deeper_than_a_body_may() {
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
