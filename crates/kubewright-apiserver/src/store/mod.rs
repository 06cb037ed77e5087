//! Every object of the cluster: one persistent ordered map, one revision counter, and the log
//! that watches replay.
//!
//! Objects are immutable and carry their encoded bytes. A snapshot and a fork are pointers. A
//! reader of the log that falls behind reads the log again: nothing is buffered for it, and what
//! the log no longer holds is reported as [`Compacted`].
//!
//! With the feature `disk` a store can be kept in a folder: what was answered to anybody survives
//! the end of the process. What is not on the disk yet is shown to nobody.

mod changes;
#[cfg(feature = "disk")]
mod disk;
mod expected;
mod followers;
mod history;
#[cfg(feature = "disk")]
mod keeper;
mod key;
mod log;
mod object;
mod random;
mod read_once;
mod snapshot;
mod state;

pub use changes::Changes;
#[cfg(feature = "disk")]
pub(crate) use disk::Disk;
#[cfg(feature = "disk")]
pub use disk::DiskError;
pub(crate) use expected::NotStored;
pub use expected::{Expected, Race, Seen};
pub use history::History;
pub use key::Key;
pub use log::{Change, ChangeKind, Compacted};
pub use object::Object;
pub(crate) use object::metadata_mut;
pub(crate) use random::Random;
pub(crate) use read_once::ReadOnce;
pub use snapshot::Snapshot;
pub use state::Store;
