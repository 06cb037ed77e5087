//! What a reconcile function works with: reads from the cache, writes that change something.

mod apply;
mod conditions;
mod create_or_patch;
mod dynamic;
mod live;
mod name;
mod object;
mod reconcile;
mod status;
mod watch;

pub use apply::Apply;
pub use dynamic::Dynamic;
pub use live::Live;
pub use name::Name;
pub use object::Object;
pub use reconcile::Context;
pub(crate) use reconcile::Shared;
pub use status::{StatusWrite, WithStatus};
pub use watch::Watch;

pub use kubewright_runtime::write::{WriteError, WriteResult};
