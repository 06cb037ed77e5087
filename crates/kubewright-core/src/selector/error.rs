//! The error of parsing a selector.

/// A selector that cannot be parsed, with the message of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseSelectorError {
    message: String,
}

impl ParseSelectorError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
