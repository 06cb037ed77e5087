//! Errors in the body of a list or watch.

use kubewright_wire::scan::ScanError;
use kubewright_wire::status::Status;

use crate::Error;

/// An error in the body of a list or watch.
pub(super) enum ItemError {
    /// The body is malformed.
    Scan(ScanError),
    /// The watch contains an error event.
    Status(Box<Status>),
}

impl From<ScanError> for ItemError {
    fn from(error: ScanError) -> Self {
        Self::Scan(error)
    }
}

impl ItemError {
    /// The error of the request that `what` names.
    pub(super) fn about(self, what: &str) -> Error {
        let what = what.to_owned();
        match self {
            // The body ended early, which is a failure of the connection and not of the server.
            Self::Scan(source @ ScanError::Cut { .. }) => Error::ConnectionLost {
                what,
                source: Box::new(source),
            },
            Self::Scan(source) => Error::InvalidResponse { what, source },
            Self::Status(status) => Error::ErrorResponse { what, status },
        }
    }
}
