//! Objects as entries of the data file.

use std::sync::Arc;

use kubewright_core::Revision;
use serde::Deserialize as _;
use serde_json::Value;

use crate::store::key::Key;
use crate::store::object::{MAX_OBJECT_DEPTH, Object};

/// The key of an entry: resource, a zero byte, and path.
pub(super) fn entry_key(key: &Key) -> String {
    format!("{}\0{}", key.resource(), key.path())
}

/// The object of an entry; none if it cannot be read.
pub(super) fn decode(entry_key: &str, bytes: &[u8]) -> Option<(Key, Arc<Object>)> {
    let (resource, path) = entry_key.split_once('\0')?;
    let value = read_json(bytes)?;
    let version = value.pointer("/metadata/resourceVersion")?.as_str()?;
    let revision = Revision::new(version.parse().ok()?);
    let object = Arc::new(Object::new(value, revision));
    Some((Key::at(resource, path), object))
}

/// Reads JSON up to the depth that the store accepts. The default limit of serde_json is 127.
fn read_json(bytes: &[u8]) -> Option<Value> {
    if depth(bytes) > MAX_OBJECT_DEPTH {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    reader.disable_recursion_limit();
    let value = Value::deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(value)
}

/// The depth of nested lists and objects in a JSON text.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest): (usize, usize) = (0, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn depth_ignores_brackets_in_strings() {
        for (text, wanted) in [
            ("1", 0),
            ("{}", 1),
            (r#"{"a":[1,{"b":[]}]}"#, 4),
            (r#"{"a":"[[[\"{{\\"}"#, 1),
        ] {
            assert_eq!(depth(text.as_bytes()), wanted, "{text}");
        }
    }
}
