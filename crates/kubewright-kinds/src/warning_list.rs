//! The warnings that a write returns, in order.

use crate::field_path::FieldPath;

/// Warnings in the order that Kubernetes returns them.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    messages: Vec<String>,
}

impl Warnings {
    pub(crate) fn into_messages(self) -> Vec<String> {
        self.messages
    }

    /// Adds a message that begins with the path of a field.
    pub(crate) fn add_at(&mut self, at: FieldPath<'_>, message: &str) {
        self.messages.push(format!("{at}: {message}"));
    }

    /// Adds a message as it is.
    pub(crate) fn add(&mut self, message: &str) {
        self.messages.push(message.to_owned());
    }
}
