//! Errors of webhook calls.

use std::fmt;

/// A webhook call without a usable response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallError {
    message: String,
    /// Whether a retry can succeed (`DefaultShouldRetry` of k8s.io/apiserver/pkg/util/webhook).
    pub(crate) is_retryable: bool,
}

impl CallError {
    /// A retry would fail as well.
    pub(crate) fn permanent(message: String) -> Self {
        Self {
            message,
            is_retryable: false,
        }
    }

    /// A retry can succeed.
    pub(crate) fn transient(message: String) -> Self {
        Self {
            message,
            is_retryable: true,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
