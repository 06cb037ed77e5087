//! Whether an informer has its first list, and what can keep it from that.

use std::sync::Arc;

use crate::Error;
use crate::client::ErrorReason;

/// Whether the first list is in the store. A synced informer stays synced when it stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SyncPhase {
    Starting,
    Blocked(Obstacle),
    Synced,
    /// Stopped before the first list.
    Stopped,
}

/// What keeps an informer from its first list until a user acts. The informer retries every few
/// seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Obstacle {
    /// The permission to list and watch the kind is missing.
    Forbidden,
    /// The API server does not serve the kind: its CustomResourceDefinition is missing or was
    /// deleted.
    NotServed,
}

impl Obstacle {
    /// The obstacle that a failure shows.
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

/// Why an informer has no first list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The informer was stopped before its first list.
    #[error("wait for the first list of {what}: the informer was stopped before it")]
    Stopped {
        /// The collection.
        what: String,
        /// The latest failure, if there was one.
        #[source]
        source: Option<Arc<Error>>,
    },
    /// A permission is missing.
    #[error("list {what}: forbidden; grant list and watch, the informer retries until then")]
    Forbidden {
        /// The collection.
        what: String,
        /// The response of the API server.
        #[source]
        source: Option<Arc<Error>>,
    },
    /// The kind is missing.
    #[error(
        "list {what}: the API server does not serve it; install its CustomResourceDefinition, the \
         informer retries until then"
    )]
    NotServed {
        /// The collection.
        what: String,
        /// The response of the API server.
        #[source]
        source: Option<Arc<Error>>,
    },
}
