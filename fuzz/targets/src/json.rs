//! Target for the reader of JSON request bodies.

use kubewright_wire::json::read;
use serde_json::Value;

/// A body is read as `serde_json` reads it, and rejected where `serde_json` rejects it.
///
/// # Panics
///
/// When that does not hold.
pub fn json(bytes: &[u8]) {
    let known: Option<Value> = serde_json::from_slice(bytes).ok();
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(read(bytes).ok().map(|json| json.value), known, "{text}");
}
