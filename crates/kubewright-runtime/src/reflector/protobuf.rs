use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kubewright_wire::scan::ScanError;

use crate::Error;

/// Whether the objects of Kubernetes' own kinds are asked for in protobuf, which costs the API
/// server half the time that JSON does. Custom resources come as JSON in any case.
///
/// What a newer server than Kubernetes 1.36 has of new fields is not read from protobuf; who needs
/// these asks for JSON ([`Protobuf::off`]). Clones share what was learnt about the server, as those
/// of [`Streaming`](super::Streaming) do.
#[derive(Clone, Debug, Default)]
pub struct Protobuf {
    off: Arc<AtomicBool>,
}

impl Protobuf {
    /// JSON only.
    pub fn off() -> Self {
        Self {
            off: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether it is asked for.
    pub fn is_on(&self) -> bool {
        !self.off.load(Ordering::Relaxed)
    }

    /// Takes note of a failure that shows that the server, or something before it, does not do it.
    pub(super) fn learn(&self, error: &Error) -> Learnt {
        if !refuses_protobuf(error) || self.off.swap(true, Ordering::Relaxed) {
            return Learnt::Nothing;
        }
        tracing::info!(
            cause = error as &(dyn std::error::Error + 'static),
            "this API server does not answer in protobuf: everything is read as JSON from now on"
        );
        Learnt::Declined
    }
}

/// What a failure says about protobuf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learnt {
    Nothing,
    /// The same question without it may be answered.
    Declined,
}

fn refuses_protobuf(error: &Error) -> bool {
    match error {
        Error::ErrorResponse { status, .. } => matches!(status.code, 406 | 415),
        Error::InvalidResponse { source, .. } => matches!(source, ScanError::Protobuf { .. }),
        _ => false,
    }
}
