use serde_json::Value;

/// What a request would do to an object, as a validator sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<K> {
    /// The object would be made.
    Create(K),
    /// The object would be changed.
    Update {
        /// As it is.
        old: K,
        /// As it would be.
        new: K,
    },
    /// The object would be deleted.
    Delete(K),
    /// Somebody would connect to what the object stands for, as `kubectl exec` does, with these
    /// options: a `PodExecOptions`, say, which is not of the object's kind.
    Connect(Value),
}

impl<K> Change<K> {
    /// The object as it would be; none when it would be gone, or only connected to.
    pub fn object(&self) -> Option<&K> {
        match self {
            Self::Create(object) | Self::Update { new: object, .. } => Some(object),
            Self::Delete(_) | Self::Connect(_) => None,
        }
    }

    /// The object as it is; none when it is not there yet, or only connected to.
    pub fn old(&self) -> Option<&K> {
        match self {
            Self::Update { old, .. } | Self::Delete(old) => Some(old),
            Self::Create(_) | Self::Connect(_) => None,
        }
    }
}
