//! From events to calls: sources feed a queue of keys, workers hand each key to a reconcile
//! function, and its answer decides when the key comes again.
//!
//! Everything here is type-erased; types are at home in the code that builds a [`Controller`].

mod failure;
mod handle;
mod mapper;
mod metrics;
mod outcome;
mod run;
mod source;
mod worker;
mod worker_pool;

pub use failure::{Failure, Retry};
pub use handle::{Handle, Watch};
pub use mapper::{Mapper, own_mapper, owner_mapper};
pub use metrics::Metrics;
pub use outcome::Outcome;
pub use run::{Controller, Reconciler, Run};
pub use source::Source;
