use std::sync::Arc;

use kubewright_core::Revision;
use serde_json::Value;

use super::{Key, Object};

/// What a writer saw when it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There was no object.
    Absent,
    /// The object had this revision.
    At(Revision),
}

/// An object that a writer decided by, at the revision it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where it lies.
    pub key: Key,
    /// Which state of it was seen.
    pub revision: Revision,
}

/// Why a new object was not stored.
#[derive(Clone, Debug)]
pub(crate) enum NotStored {
    /// There is one already.
    Taken(Arc<Object>),
    /// What was decided by is no longer so: decide again about the value that comes back.
    Moved(Value),
}

/// Another write came in between: read again and decide again.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the object changed between reading and writing it")]
pub struct Race {
    /// What is stored now.
    pub current: Option<Arc<Object>>,
}
