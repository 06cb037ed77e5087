//! What a controller runs on: client, informers and cache, queue, controllers, leader election.
//!
//! The modules stand in the order of an event's way: bytes of a list or watch come through the
//! [`client`], the [`reflector`] keeps them coming, the [`store`] holds the objects, the
//! [`informer`] tells subscribers what changed, the [`queue`] holds the keys that wait for a
//! worker, and the [`cache`] is the typed edge that reads go through. The
//! [`election`] says which of several copies works. Each is usable alone.

pub mod cache;
pub mod client;
pub mod controller;
pub mod discovery;
pub mod election;
mod error;
pub mod events;
pub mod informer;
mod limits;
pub mod metrics;
mod namespaces;
mod panic_message;
pub mod prometheus;
pub mod queue;
mod random;
mod rate_limit;
pub mod reconcile_loop;
pub mod reflector;
pub mod store;
pub mod write;

pub use error::Error;
pub use kubewright_wire::record;
pub use limits::Limits;
pub use namespaces::NamespaceSet;
pub use rate_limit::RateLimit;
