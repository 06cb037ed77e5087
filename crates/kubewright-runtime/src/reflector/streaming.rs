//! Whether lists are streamed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::client::ErrorReason;

/// Whether a collection's state is read as the beginning of its watch (`sendInitialEvents`, a
/// streaming list), which costs the API server far less memory than a list (KEP-3157).
///
/// Clones share what one reflector learns about the server: once a failure shows that the server
/// does not stream lists, all of them list in pages.
#[derive(Clone, Debug, Default)]
pub struct Streaming {
    is_off: Arc<AtomicBool>,
}

impl Streaming {
    /// Never streams lists.
    pub fn off() -> Self {
        Self {
            is_off: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether lists are streamed.
    pub fn is_on(&self) -> bool {
        !self.is_off.load(Ordering::Relaxed)
    }

    /// Turns streaming off if the failure shows that the server does not support it; whether it
    /// does.
    pub(super) fn disable_after(&self, error: &Error) -> bool {
        if !is_unsupported(error) {
            return false;
        }
        if !self.is_off.swap(true, Ordering::Relaxed) {
            tracing::info!(
                cause = error as &(dyn std::error::Error + 'static),
                "this API server does not stream lists: listing in pages from now on"
            );
        }
        true
    }
}

/// Whether the server does not stream lists: it rejects the request, or never ends the initial
/// state.
fn is_unsupported(error: &Error) -> bool {
    let Some(status) = error.status() else {
        return matches!(error, Error::StreamingListStalled { .. });
    };
    // Before 1.27, and where the gate WatchList is off: "sendInitialEvents is forbidden".
    ErrorReason::of(status) == ErrorReason::Invalid || matches!(status.code, 400 | 405 | 406 | 501)
}
