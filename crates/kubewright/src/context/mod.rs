//! The context of a reconcile function: reads from the cache, writes, events and live reads.

mod apply;
mod conditions;
mod create_or_patch;
mod dynamic;
mod environment;
mod live;
mod name;
mod object;
mod reconcile;
mod status;
mod watch;

pub use apply::Apply;
pub use dynamic::Dynamic;
pub(crate) use environment::ReconcileEnvironment;
pub use live::Live;
pub use name::Name;
pub use object::Object;
pub use reconcile::Context;
pub use status::{StatusWrite, WithStatus};
pub use watch::Watch;

pub use kubewright_runtime::write::{WriteError, WriteResult};
