//! Label and field selectors: their grammar, what they match, how they are written.

mod field;
mod label;
mod object;

pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelOperator, LabelRequirement, LabelSelector};

/// A selector that does not parse, with the message that Kubernetes gives.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseSelectorError {
    message: String,
}

impl ParseSelectorError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}
