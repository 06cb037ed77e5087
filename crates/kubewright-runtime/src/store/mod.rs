//! Objects by key, as flat records: one writer at a time, readers that never wait, and snapshots at
//! the cost of a pointer.
//!
//! A [`Store`] has two layers. The base holds what list and watch of the API server have delivered;
//! events are computed from it alone. The overlay holds the responses to this process's own writes
//! until the base has caught up; reads look there first.

mod base;
mod change_event;
mod delta;
mod filter;
mod index;
mod layers;
mod object_store;
mod overlay;
mod snapshot;

pub use change_event::ChangeEvent;
pub use delta::Delta;
pub use filter::Filter;
pub use index::{IndexFunction, UnknownIndex};
pub use layers::Iter;
pub(crate) use object_store::ResponseTransform;
pub use object_store::{Replaced, Store};
pub use snapshot::Snapshot;
