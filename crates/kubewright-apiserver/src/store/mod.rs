//! The objects of the cluster: one persistent ordered map, one revision counter, and the log of
//! recent writes.
//!
//! Objects are immutable and have their encoded bytes. Snapshots and forks share them. Nothing is
//! buffered for a slow reader of the log: it reads the log again later, and fails with
//! [`Compacted`] when the log no longer has what it needs.
//!
//! With the feature `disk` a store can be in a folder. What a response has shown then survives the
//! end of the process: a change that is not on the disk yet is in no response, and a change that
//! cannot be written to the disk is undone.

mod batch;
mod changes;
mod conflict;
#[cfg(feature = "disk")]
mod disk;
mod handle;
mod history;
mod inner;
mod key;
mod log;
mod object;
mod parsed_cache;
mod random;
mod snapshot;
mod state;
mod subscribers;
mod timestamp;

pub use changes::Changes;
pub(crate) use conflict::CreateConflict;
pub use conflict::{Expected, ObservedRevision, WriteConflict};
#[cfg(feature = "disk")]
pub(crate) use disk::Disk;
#[cfg(feature = "disk")]
pub use disk::DiskError;
pub use handle::Store;
pub use history::History;
pub use key::Key;
pub use log::{Change, ChangeKind, Compacted};
pub use object::Object;
pub(crate) use object::{MAX_OBJECT_DEPTH, metadata_mut};
pub(crate) use parsed_cache::ParsedCache;
pub(crate) use random::Random;
pub use snapshot::Snapshot;
pub use timestamp::timestamp;
