//! The cluster of one test: embedded in this process, real or existing.

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
mod forbidden;
mod handle;
mod inert_kinds;
mod install;
mod nodes;
mod objects;
mod operator;
mod operator_under_test;
mod permissions_file;
mod policies;
mod pool;
mod reconcile_loops;
mod replicas;
mod sweep;
mod wait;
mod webhook_address;
mod webhook_probe;
mod webhooks;

pub use builder::ClusterBuilder;
pub use capability::Capability;
pub(crate) use deployed::Skip;
pub(crate) use failure::{Chain, fail};
pub use handle::Cluster;
pub use objects::{Object, ObjectScope};
