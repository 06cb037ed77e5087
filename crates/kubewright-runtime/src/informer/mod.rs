//! Shared copies of collections, and word of what changes in them.
//!
//! [`Informers`] runs one reflector per [`InformerSpec`], however many ask for it, until the last of
//! them is gone. Each
//! [`Informer`] has a [`Store`](crate::store::Store), which is up to date before anybody is told, and any
//! number of subscribers. A [`Subscription`] never holds the informer up and never grows without
//! bound: changes of one object that nobody has fetched yet become one change, from the state
//! that the subscriber last saw to the present one.

mod feed;
mod handle;
mod inbox;
mod lease;
mod parts;
mod set;
mod stats;
mod subscription;
mod sync;

pub use crate::reflector::{Content, InformerSpec};
pub use crate::store::ChangeEvent;
pub use handle::Informer;
pub use set::{InformerOptions, Informers};
pub use stats::{InformerStatus, Stats};
pub use subscription::{Notification, Subscription};
pub use sync::{Obstacle, SyncError};
