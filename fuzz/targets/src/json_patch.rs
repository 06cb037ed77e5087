//! Target for JSON patches (RFC 6902).

use kubewright_wire::patch;
use serde_json::Value;

/// Limits of one input. Copies that double the document stay within what one patch may copy.
const MAX_OPERATIONS: usize = 8;
const MAX_BYTES: usize = 4096;

/// The operations of a JSON patch succeed or fail without a panic, and those that succeed one by
/// one succeed together. The input is a list of two items: the document and the operations.
///
/// # Panics
///
/// When that does not hold.
pub fn json_patch(bytes: &[u8]) {
    if bytes.len() > MAX_BYTES {
        return;
    }
    let Ok((start, operations)) = serde_json::from_slice::<(Value, Vec<Value>)>(bytes) else {
        return;
    };
    let mut document = start.clone();
    let mut done = Vec::new();
    for operation in operations.into_iter().take(MAX_OPERATIONS) {
        let before = document.clone();
        let single = Value::Array(vec![operation.clone()]);
        match patch::json_patch(&mut document, &single) {
            Ok(()) => done.push(operation),
            Err(_) => document = before,
        }
    }
    let mut together = start;
    let all = patch::json_patch(&mut together, &Value::Array(done));
    assert!(all.is_ok(), "{all:?}");
    assert_eq!(together, document);
}
