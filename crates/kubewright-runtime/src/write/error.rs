use kubewright_wire::record::RecordError;
use kubewright_wire::status::Status;

use crate::client::ErrorReason;

/// Why a write was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The caller's fault: the object cannot be written in this form.
    #[error("{what}: {why}")]
    Refused {
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
        /// What serde said.
        #[source]
        source: serde_json::Error,
    },
    /// The caller's function, which was to change the object, failed.
    #[error("{what}: the function that changes it failed")]
    Change {
        /// What was tried, on what.
        what: String,
        /// What it said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The object is there, but is not one of the expected type.
    #[error("{what}: the object does not have the expected form")]
    Form {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: RecordError,
    },
    /// The name or namespace does not fit into a path.
    #[error("{what}: its name or namespace cannot stand in a path; check both")]
    Path {
        /// What was tried, on what.
        what: String,
        /// What is wrong with the path.
        #[source]
        source: http::Error,
    },
    /// A layer of the client stopped the request, so nothing was done.
    #[error("{what}: the request was not sent")]
    Withheld {
        /// What was tried, on what.
        what: String,
        /// Why it was stopped.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// No answer came, so the write may or may not have been done.
    #[error("{what}: no answer from the API server")]
    Unanswered {
        /// What was tried, on what.
        what: String,
        /// What failed on the way.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The API server said no.
    #[error("{what}")]
    Answered {
        /// What was tried, on what.
        what: String,
        /// Its answer.
        #[source]
        source: Box<Status>,
    },
    /// The API server's answer is not an object.
    #[error("{what}: done, but the answer is not an object")]
    Answer {
        /// What was tried, on what.
        what: String,
        /// What is wrong with it.
        #[source]
        source: RecordError,
    },
}

impl WriteError {
    /// Whether the object has changed since it was read: not an error, but a race that the next
    /// run wins.
    pub fn is_conflict(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| ErrorReason::of(status) == ErrorReason::Conflict)
    }

    /// Whether the namespace is going, so that nothing new can be made in it: not an error either,
    /// for the reconciled object goes with it.
    pub fn is_namespace_terminating(&self) -> bool {
        let details = self.status().and_then(|status| status.details.as_ref());
        let causes = details.map(|details| details.causes.iter());
        causes.into_iter().flatten().any(|cause| {
            let kind = serde_json::to_value(&cause.kind);
            kind.is_ok_and(|kind| kind == "NamespaceTerminating")
        })
    }

    /// The API server's answer, when it gave one.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Answered { source, .. } => Some(source),
            _ => None,
        }
    }
}
