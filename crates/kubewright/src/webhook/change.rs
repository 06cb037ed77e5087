//! The change of an object that a validating webhook checks.

use serde_json::Value;

/// The change of an object that a request would make.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<K> {
    /// The object would be created.
    Create(K),
    /// The object would be updated.
    Update {
        /// The stored object.
        old: K,
        /// The object after the update.
        new: K,
    },
    /// The object would be deleted.
    Delete(K),
    /// A client would connect to the object, as `kubectl exec` does, with these options: a
    /// `PodExecOptions`, for example, which is not of the object's kind.
    Connect(Value),
}

impl<K> Change<K> {
    /// Returns the object after the change, or `None` for a deletion or connection.
    pub fn object(&self) -> Option<&K> {
        match self {
            Self::Create(object) | Self::Update { new: object, .. } => Some(object),
            Self::Delete(_) | Self::Connect(_) => None,
        }
    }

    /// Returns the stored object, or `None` for a creation or connection.
    pub fn old(&self) -> Option<&K> {
        match self {
            Self::Update { old, .. } | Self::Delete(old) => Some(old),
            Self::Create(_) | Self::Connect(_) => None,
        }
    }
}
