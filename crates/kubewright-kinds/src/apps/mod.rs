//! The kinds of the group apps.

mod controller_revision;
mod daemon_set;
mod deployment;
mod replica_set;
mod stateful_set;

pub use controller_revision::CONTROLLER_REVISION;
pub use daemon_set::DAEMON_SET;
pub use deployment::DEPLOYMENT;
pub use replica_set::REPLICA_SET;
pub use stateful_set::STATEFUL_SET;
