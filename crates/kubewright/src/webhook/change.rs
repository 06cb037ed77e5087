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
}

impl<K> Change<K> {
    /// The object as it would be; none when it would be gone.
    pub fn object(&self) -> Option<&K> {
        match self {
            Self::Create(object) | Self::Update { new: object, .. } => Some(object),
            Self::Delete(_) => None,
        }
    }

    /// The object as it is; none when it is not there yet.
    pub fn old(&self) -> Option<&K> {
        match self {
            Self::Update { old, .. } | Self::Delete(old) => Some(old),
            Self::Create(_) => None,
        }
    }
}
