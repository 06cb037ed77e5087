//! Fields of objects, read by JSON pointer, and patches of a status.

use serde_json::{Value, json};

/// The string at a JSON pointer; empty when it is absent.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    let found = value.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// The items of the list at a JSON pointer; none when it is absent.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map(Vec::as_slice).unwrap_or_default()
}

/// The integer at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// A count for a merge patch: Kubernetes omits zero, and null removes a field.
pub(crate) fn null_if_zero(count: impl TryInto<i64>) -> Value {
    match count.try_into().unwrap_or_default() {
        0 => Value::Null,
        count => count.into(),
    }
}

/// `metadata.generation`; zero when it is absent.
pub(crate) fn generation(object: &Value) -> i64 {
    number(object, "/metadata/generation").unwrap_or_default()
}

/// The node of a Pod; empty before it is scheduled.
pub(crate) fn node_name(pod: &Value) -> &str {
    text(pod, "/spec/nodeName")
}

/// Whether all containers of a Pod have ended for good.
pub(crate) fn has_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// A merge patch of the status that conflicts when the object has changed since it was read.
pub(crate) fn status_patch(object: &Value, status: &Value) -> Value {
    let revision = text(object, "/metadata/resourceVersion");
    json!({"metadata": {"resourceVersion": revision}, "status": status})
}
