//! Every object of the cluster: one persistent ordered map, one revision counter, and the log
//! that watches replay.
//!
//! Objects are immutable and carry their encoded bytes. A snapshot and a fork are pointers. A
//! reader of the log that falls behind reads the log again: nothing is buffered for it, and what
//! the log no longer holds is reported as [`Compacted`].
//!
//! With the feature `disk` a store can be kept in a folder: what a response has shown survives the
//! end of the process. What is not on the disk yet is in no response, and what cannot be written to
//! the disk is taken back.

mod batch;
mod changes;
#[cfg(feature = "disk")]
mod disk;
#[cfg(feature = "disk")]
mod disk_writer;
mod expected;
mod followers;
mod handle;
mod history;
mod key;
mod log;
mod object;
mod parsed_cache;
mod random;
mod shared;
mod snapshot;
mod state;
mod timestamp;

/// How deep the lists and objects of a stored object may stand in one another.
///
/// Bodies of requests are less deep (127 levels as JSON, 200 as YAML); `managedFields` repeat the
/// structure of the object some levels below its top.
pub(crate) const DEEPEST: usize = 256;

pub use changes::Changes;
#[cfg(feature = "disk")]
pub(crate) use disk::Disk;
#[cfg(feature = "disk")]
pub use disk::DiskError;
pub(crate) use expected::NotStored;
pub use expected::{Expected, Race, Seen};
pub use handle::Store;
pub use history::History;
pub use key::Key;
pub use log::{Change, ChangeKind, Compacted};
pub use object::Object;
pub(crate) use object::metadata_mut;
pub(crate) use parsed_cache::ParsedCache;
pub(crate) use random::Random;
pub use snapshot::Snapshot;
pub use timestamp::timestamp;
