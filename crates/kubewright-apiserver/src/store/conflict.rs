//! What a writer expects of the stored objects, and what happens when it is not so.

use std::sync::Arc;

use kubewright_core::Revision;
use serde_json::Value;

use super::key::Key;
use super::object::Object;

/// The state of an object that a writer has read, which must be current when it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// There was no object.
    Absent,
    /// The object had this revision.
    At(Revision),
}

/// The revision of another object that a write depends on, such as the namespace of a new object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedRevision {
    /// The key of the object.
    pub key: Key,
    /// The revision at which the writer has read it.
    pub revision: Revision,
}

/// Why a new object was not stored.
#[derive(Clone, Debug)]
pub(crate) enum CreateConflict {
    /// An object with this key exists.
    Exists(Arc<Object>),
    /// An object that the write depends on has changed. Returns the value that was not stored.
    Outdated(Value),
}

/// Another write has changed the object. The writer reads it again and decides again.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the object changed between reading and writing it")]
pub struct WriteConflict {
    /// The stored object.
    pub current: Option<Arc<Object>>,
}
