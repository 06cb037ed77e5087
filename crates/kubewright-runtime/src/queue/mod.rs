//! Keys that wait for a worker.
//!
//! What [`Queue`] promises:
//! - A key is with one worker at a time.
//! - However often a key is added while it waits, it is handed out once; added while it is being
//!   worked on, it is handed out once more, after [`Queue::done`].
//! - Keys of a higher [`Priority`] come first; keys of one priority in the order in which they
//!   became ready, or, by option, each namespace in its turn.
//! - Nothing starves: a key that has waited long is taken after a bounded number of others,
//!   whatever their priority ([`Ageing`]).
//! - Of several delays for one key the earliest counts, and a plain [`Queue::add`] takes the
//!   place of a delay and says so ([`Added`]).

mod added;
mod backoff;
mod entries;
mod finished;
mod index;
mod keys;
mod line;
mod lock;
#[cfg(test)]
mod loom_tests;
mod metrics;
mod options;
mod ready;
mod table;
mod waiter;
mod waiting;

pub use added::Added;
pub use backoff::Backoff;
pub use finished::Finished;
pub use keys::Queue;
pub use metrics::Metrics;
pub use options::{AddOptions, Ageing, Fairness, Priority, QueueOptions};
