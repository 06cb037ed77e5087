//! Whether objects are requested in protobuf.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kubewright_wire::scan::ScanError;

use crate::Error;

/// Whether built-in kinds are requested in protobuf, which costs the API server half the time of
/// JSON. Custom resources are always served as JSON.
///
/// Fields that are newer than Kubernetes 1.36 are not read from protobuf; turn it off to read them
/// ([`Protobuf::off`]). Clones share what one reflector learns about the server, as those of
/// [`Streaming`](super::Streaming) do.
#[derive(Clone, Debug, Default)]
pub struct Protobuf {
    is_off: Arc<AtomicBool>,
}

impl Protobuf {
    /// Requests JSON only.
    pub fn off() -> Self {
        Self {
            is_off: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether protobuf is requested.
    pub fn is_on(&self) -> bool {
        !self.is_off.load(Ordering::Relaxed)
    }

    /// Turns protobuf off if the failure shows that the server, or a proxy in front of it, does not
    /// support it. Returns true if this call turned it off, so that a retry in JSON can succeed.
    pub(super) fn disable_after(&self, error: &Error) -> bool {
        if !is_unsupported(error) || self.is_off.swap(true, Ordering::Relaxed) {
            return false;
        }
        tracing::info!(
            cause = error as &(dyn std::error::Error + 'static),
            "this API server does not respond in protobuf: requesting JSON from now on"
        );
        true
    }
}

fn is_unsupported(error: &Error) -> bool {
    match error {
        Error::ErrorResponse { status, .. } => matches!(status.code, 406 | 415),
        Error::InvalidResponse { source, .. } => matches!(source, ScanError::Protobuf { .. }),
        _ => false,
    }
}
