//! One cluster for a test, whichever kind it is: embedded in the process, or real.

mod address;
mod backend;
mod builder;
mod capability;
mod deployed;
mod embedded;
mod existing;
mod failure;
mod faults;
mod handle;
mod nodes;
mod objects;
mod operator;
mod policies;
mod pool;
mod refusals;
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
