use std::sync::Arc;

use crate::Error;
use crate::client::ErrorReason;

/// Whether the state is in the store; what is there stays when the informer stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Starting,
    Blocked(Obstacle),
    Synced,
    /// Stopped before it.
    Stopped,
}

/// Why there is no state until somebody does something about it. It is looked for again every few
/// seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// Reading the kind is not permitted.
    Forbidden,
    /// Nobody serves the kind: its CustomResourceDefinition is missing, or was removed.
    NotServed,
}

impl Obstacle {
    /// What the failure says about it.
    pub(super) fn of(error: &Error) -> Option<Self> {
        match ErrorReason::of(error.status()?) {
            ErrorReason::Forbidden => Some(Self::Forbidden),
            ErrorReason::NotFound => Some(Self::NotServed),
            _ => None,
        }
    }

    pub(super) fn error(self, what: String, source: Option<Arc<Error>>) -> SyncError {
        match self {
            Self::Forbidden => SyncError::Forbidden { what, source },
            Self::NotServed => SyncError::NotServed { what, source },
        }
    }
}

/// Why an informer has no state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// It was stopped too early.
    #[error("wait for the first list of {what}: the informer was stopped before it")]
    Stopped {
        /// Of what.
        what: String,
        /// The latest failure, when there was one.
        #[source]
        source: Option<Arc<Error>>,
    },
    /// A permission is missing.
    #[error("read {what}: not permitted; grant list and watch, which is then noticed by itself")]
    Forbidden {
        /// What was read.
        what: String,
        /// The API server's answer.
        #[source]
        source: Option<Arc<Error>>,
    },
    /// The kind is missing.
    #[error(
        "read {what}: the API server does not know it; install its CustomResourceDefinition, \
         which is then noticed by itself"
    )]
    NotServed {
        /// What was read.
        what: String,
        /// The API server's answer.
        #[source]
        source: Option<Arc<Error>>,
    },
}
