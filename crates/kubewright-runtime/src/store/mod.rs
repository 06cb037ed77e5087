//! Objects by key, as flat records: one writer, readers that never wait, snapshots that cost a
//! pointer.
//!
//! A [`Store`] has two layers. The base is what the API server's list and watch have delivered,
//! and events are computed on it alone. The overlay holds the answers to this process's own
//! writes until the base has caught up; reads look there first.

mod base;
mod event;
mod filter;
mod index;
mod overlay;
mod records;
mod snapshot;

pub(crate) use base::changes;
pub use event::{ChangeEvent, Delta};
pub use filter::Filter;
pub use index::{IndexFunction, UnknownIndex};
pub(crate) use records::Shape;
pub use records::{Replaced, Store};
pub use snapshot::{Iter, Snapshot};
