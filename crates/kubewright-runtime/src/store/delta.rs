//! The events of a watch, as a store applies them.

use kubewright_wire::record::Record;

/// An event of a watch.
#[derive(Clone, Debug)]
pub enum Delta {
    /// The object was added or modified and has this state.
    Applied(Record),
    /// The object was deleted; this was its last state.
    Deleted(Record),
    /// There are no other changes up to this resourceVersion.
    Bookmark(String),
}

impl Delta {
    /// The resourceVersion that the watch has reached with this event.
    pub fn resource_version(&self) -> &str {
        match self {
            Self::Applied(record) | Self::Deleted(record) => record.resource_version(),
            Self::Bookmark(resource_version) => resource_version,
        }
    }
}
