//! Shared caches of collections, and subscriptions to their changes.
//!
//! [`Informers`] runs one reflector per [`InformerSpec`], shared by all users of that spec, until
//! the last of them is dropped. Each [`Informer`] has a [`Store`](crate::store::Store), which is up
//! to date before subscribers are notified, and any number of subscribers. A [`Subscription`] never
//! delays the informer and never grows without bound: undelivered changes of one object are merged
//! into one change, from the state that the subscriber last received to the current state.

mod event_buffer;
mod handle;
mod informers;
mod keep_alive;
mod memory_budget;
mod namespaced;
mod notification;
mod sink;
mod state;
mod stats;
mod subscribers;
mod subscription;
mod sync;

pub use crate::reflector::{Content, InformerSpec};
pub use crate::store::ChangeEvent;
pub use handle::Informer;
pub use informers::{InformerOptions, Informers};
pub use memory_budget::MemoryBudget;
pub use notification::Notification;
pub use stats::{InformerStats, InformerStatus};
pub use subscription::Subscription;
pub use sync::{Obstacle, SyncError};
