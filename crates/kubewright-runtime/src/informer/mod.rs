//! Shared copies of collections, and word of what changes in them.
//!
//! [`Informers`] runs one reflector per [`InformerSpec`], however many ask for it. Each
//! [`Informer`] has a [`Store`](crate::store::Store), which is up to date before anybody is told, and any
//! number of subscribers. A [`Subscription`] never holds the informer up and never grows without
//! bound: changes of one object that nobody has fetched yet become one change, from the state
//! that the subscriber last saw to the present one.

mod handle;
mod inbox;
mod set;
mod stats;
mod subscription;

pub use crate::reflector::InformerSpec;
pub use crate::store::Event;
pub use handle::{Informer, SyncError};
pub use set::{InformerOptions, Informers};
pub use stats::Stats;
pub use subscription::{Notice, Subscription};
