//! A work queue of object keys.
//!
//! Guarantees of [`Queue`]:
//! - A key has at most one worker at a time.
//! - A key that is added several times while it waits is handed out once. A key that is added while
//!   it is processed is handed out once more, after [`Queue::done`].
//! - Keys of a higher [`Priority`] come first. Keys of the same priority come in the order in which
//!   they became ready or, as an option, with the namespaces in turn ([`Fairness`]).
//! - No key starves: a key that has waited for long is handed out after a bounded number of other
//!   keys, whatever their priority ([`Aging`]).
//! - Of several delays for a key the earliest applies. [`Queue::add`] replaces a delay and reports
//!   it ([`Added`]).

mod added;
mod backoff;
mod entries;
mod finished;
mod index;
mod lane;
mod lock;
#[cfg(test)]
mod loom_tests;
mod metrics;
mod options;
mod ready;
mod schedule;
mod table;
mod waiter;
mod work_queue;

pub use added::Added;
pub use backoff::Backoff;
pub use finished::Finished;
pub use metrics::Metrics;
pub use options::{AddOptions, Aging, Fairness, Priority, QueueOptions};
pub use work_queue::Queue;
