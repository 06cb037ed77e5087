use serde_json::Value;

use super::continue_token::ContinueToken;
use super::json::read;
use super::json_patch;

/// The most operations of a patch that are looked at, and the most bytes: what is copied twice as
/// often each time stays within what one patch may copy.
const OPERATIONS: usize = 8;
const LONGEST: usize = 4096;

/// A body reads as the JSON library reads it, or is refused like there.
///
/// # Panics
///
/// When that does not hold.
pub fn json(bytes: &[u8]) {
    let known: Option<Value> = serde_json::from_slice(bytes).ok();
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(read(bytes).ok().map(|json| json.value), known, "{text}");
}

/// A continue token is refused, or goes on from the same place when it is written again.
///
/// # Panics
///
/// When that does not hold.
pub fn continue_token(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(token) = ContinueToken::decode(&text) {
        assert_eq!(ContinueToken::decode(&token.encode()), Ok(token), "{text}");
    }
}

/// The operations of a JSON patch are carried out or refused, and those that succeed one by one
/// succeed together. The input is a list of two: the document and the operations.
///
/// # Panics
///
/// When that does not hold.
pub fn json_patch_promise(bytes: &[u8]) {
    if bytes.len() > LONGEST {
        return;
    }
    let Ok((start, operations)) = serde_json::from_slice::<(Value, Vec<Value>)>(bytes) else {
        return;
    };
    let mut document = start.clone();
    let mut done = Vec::new();
    for operation in operations.into_iter().take(OPERATIONS) {
        let before = document.clone();
        let one = Value::Array(vec![operation.clone()]);
        match json_patch::json_patch(&mut document, &one) {
            Ok(()) => done.push(operation),
            Err(_) => document = before,
        }
    }
    let mut together = start;
    let all = json_patch::json_patch(&mut together, &Value::Array(done));
    assert!(all.is_ok(), "{all:?}");
    assert_eq!(together, document);
}
