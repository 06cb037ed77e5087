//! One cluster for a test, whichever kind it is: embedded in the process, or real.

mod address;
mod backend;
mod balancer;
mod builder;
mod capability;
mod deployed;
mod embedded;
mod existing;
mod failure;
mod faults;
mod handle;
mod install;
mod nodes;
mod objects;
mod operator;
mod policies;
mod pool;
mod reach;
mod reconcile_loops;
mod refusals;
mod replicas;
mod sweep;
mod unmoved;
mod usage;
mod wait;
mod webhooks;

pub use builder::ClusterBuilder;
pub use capability::Capability;
pub(crate) use deployed::Skip;
pub(crate) use failure::{Chain, fail};
pub use handle::Cluster;
pub use objects::{Object, ObjectScope};
