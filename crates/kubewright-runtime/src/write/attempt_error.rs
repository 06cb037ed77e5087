//! The error of an attempt to write an object, and what a retry repeats.

use super::WriteError;
use crate::client::ErrorReason;

/// The error of an attempt, and what a retry repeats.
pub(super) struct AttemptError {
    pub(super) error: WriteError,
    pub(super) retry: RetryScope,
}

/// The part of an attempt that a retry repeats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryScope {
    /// Nothing: a retry would fail the same way.
    Nothing,
    /// The failed request, with the object as it is then.
    Request,
    /// The whole attempt.
    Everything,
}

impl AttemptError {
    /// An error after which everything is retried if it has one of these reasons.
    pub(super) fn retried_on(error: WriteError, reasons: &[ErrorReason]) -> Self {
        let is_race = reasons.iter().any(|reason| has_reason(&error, *reason));
        let retry = if is_race {
            RetryScope::Everything
        } else {
            RetryScope::Nothing
        };
        Self { error, retry }
    }
}

impl From<WriteError> for AttemptError {
    fn from(error: WriteError) -> Self {
        Self {
            error,
            retry: RetryScope::Nothing,
        }
    }
}

/// Whether the API server returned an error with this reason.
pub(super) fn has_reason(error: &WriteError, reason: ErrorReason) -> bool {
    let status = error.status();
    status.is_some_and(|status| ErrorReason::of(status) == reason)
}
