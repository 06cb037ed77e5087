//! Controllers: sources add keys to a queue, workers call a reconcile function for each key, and
//! its result decides when the key is enqueued again.
//!
//! Everything here is type-erased; the types are known to the code that builds a [`Controller`].

mod failure;
mod handle;
mod mapper;
mod metrics;
mod outcome;
mod reconciler;
mod run;
mod running_source;
mod source;
mod worker;
mod worker_pool;

pub use failure::{Failure, Retry};
pub use handle::Handle;
pub use mapper::{Mapper, own_mapper, owner_mapper};
pub use metrics::Metrics;
pub use outcome::Outcome;
pub use reconciler::{Reconciler, Run};
pub use run::Controller;
pub use running_source::RunningSource;
pub use source::Source;
