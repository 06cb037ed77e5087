use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

/// Whether a collection's state is read as the beginning of its watch (`sendInitialEvents`), which
/// costs the API server far less memory than a list.
///
/// Clones share what was learnt about the server: where one reflector finds that it does not do
/// it, the others list at once.
#[derive(Clone, Debug, Default)]
pub struct Streaming {
    off: Arc<AtomicBool>,
}

impl Streaming {
    /// Lists only.
    pub fn off() -> Self {
        Self {
            off: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether it is tried.
    pub fn is_on(&self) -> bool {
        !self.off.load(Ordering::Relaxed)
    }

    /// The server has shown that it does not do it.
    pub(super) fn decline(&self, cause: &Error) {
        if !self.off.swap(true, Ordering::Relaxed) {
            tracing::info!(
                cause = cause as &(dyn std::error::Error + 'static),
                "this API server does not stream lists: all are read in pages from now on"
            );
        }
    }
}
