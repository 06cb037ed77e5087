//! What a controller runs on: client, informers and cache, queue, controllers, leader election.
//!
//! An event passes through the modules in this order: the [`client`] receives the bytes of a list
//! or watch, the [`reflector`] lists, watches and retries, the [`store`] holds the objects, the
//! [`informer`] notifies subscribers of changes, the [`controller`] maps a change to keys, the
//! [`queue`] orders the keys for the workers, and [`write`](mod@write) sends what a reconcile changes. The
//! [`cache`] decodes objects to Rust types when they are read.
//!
//! Beside that path, [`discovery`] finds the kinds of a server, [`election`] elects a leader among
//! replicas, [`events`] reports Kubernetes events, [`reconcile_loop`] detects controllers that
//! trigger themselves, and [`metrics`] writes metrics in the text format of [`prometheus`]. Each
//! module is usable alone.

pub mod cache;
mod cgroup_limits;
pub mod client;
pub mod controller;
pub mod discovery;
pub mod election;
mod error;
pub mod events;
pub mod informer;
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

pub use cgroup_limits::CgroupLimits;
pub use error::Error;
pub use kubewright_wire::record;
pub use namespaces::NamespaceSet;
pub use rate_limit::RateLimit;
