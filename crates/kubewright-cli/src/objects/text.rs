//! Strings in objects.

use serde_json::Value;

/// Returns the string; empty for any other value.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
