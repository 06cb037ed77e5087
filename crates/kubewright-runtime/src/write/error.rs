//! The errors of writes.

use kubewright_wire::record::RecordError;
use kubewright_wire::status::Status;

use crate::client::{Conflict, ErrorReason};

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The caller's fault: the object cannot be written in this form.
    #[error("{what}: {why}")]
    Invalid {
        /// What was tried, on what.
        what: String,
        /// The reason and the next step.
        why: String,
    },
    /// The object has no JSON form.
    #[error("{what}: the object does not serialize")]
    Serialize {
        /// What was tried, on what.
        what: String,
        /// The error of serde.
        #[source]
        source: serde_json::Error,
    },
    /// The caller's function, which was to change the object, failed.
    #[error("{what}: the function that changes it failed")]
    Change {
        /// What was tried, on what.
        what: String,
        /// The error of the function.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The object exists, but does not have the expected type.
    #[error("{what}: the object does not have the expected form")]
    Decode {
        /// What was tried, on what.
        what: String,
        /// The field that does not fit.
        #[source]
        source: RecordError,
    },
    /// The name or namespace is not valid in a path.
    #[error("{what}: the name or namespace is not valid in a path; check both")]
    InvalidPath {
        /// What was tried, on what.
        what: String,
        /// The error in the path.
        #[source]
        source: http::Error,
    },
    /// A layer of the client blocked the request, so nothing was written.
    #[error("{what}: the request was not sent")]
    Blocked {
        /// What was tried, on what.
        what: String,
        /// Why it was blocked.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No response arrived. Whether the object was written is not known.
    #[error("{what}: no response from the API server")]
    NoResponse {
        /// What was tried, on what.
        what: String,
        /// The failure on the way.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The API server returned an error.
    #[error("{what}")]
    ErrorResponse {
        /// What was tried, on what.
        what: String,
        /// The error.
        #[source]
        source: Box<Status>,
    },
    /// The object was written, but the response is not an object.
    #[error("{what}: done, but the response is not an object")]
    InvalidResponse {
        /// What was tried, on what.
        what: String,
        /// The malformed part.
        #[source]
        source: RecordError,
    },
}

impl WriteError {
    /// Whether the object has changed since it was read. That is not a failure but a race: the
    /// next run reads the new state.
    pub fn is_conflict(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| ErrorReason::of(status) == ErrorReason::Conflict)
    }

    /// Whether the namespace is being deleted, so that nothing can be created in it. That is not a
    /// failure either: the reconciled object is deleted with its namespace.
    pub fn is_namespace_terminating(&self) -> bool {
        let details = self.status().and_then(|status| status.details.as_ref());
        let mut causes = details.into_iter().flat_map(|details| &details.causes);
        causes.any(|cause| {
            let kind = serde_json::to_value(&cause.kind);
            kind.is_ok_and(|kind| kind == "NamespaceTerminating")
        })
    }

    /// The error that the API server returned, if it did.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::ErrorResponse { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Conflict for WriteError {
    fn is_conflict(&self) -> bool {
        Self::is_conflict(self)
    }
}
