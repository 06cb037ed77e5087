//! What a controller runs on: client, informers and cache, queue, controllers.
//!
//! The modules stand in the order of an event's way: bytes of a list or watch come through the
//! [`client`], the [`reflector`] keeps them coming, the [`store`] holds the objects, the
//! [`informer`] tells subscribers what changed, the [`queue`] holds the keys that wait for a
//! worker, and the [`cache`] is the typed edge that reads go through. Each is usable alone.

pub mod cache;
pub mod client;
pub mod controller;
mod error;
pub mod events;
pub mod informer;
pub mod metrics;
pub mod queue;
pub mod reflector;
pub mod store;
pub mod write;

pub use error::Error;
pub use kubewright_wire::record;
