//! The text of a panic that was caught.

use std::any::Any;

/// The message that `panic!` was called with; `no message` when the payload is not a string.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&'static str>().copied();
    literal
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
