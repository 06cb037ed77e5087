//! Keys that wait for a worker.
//!
//! What [`Queue`] promises:
//! - A key is with one worker at a time.
//! - However often a key is added while it waits, it is handed out once; added while it is being
//!   worked on, it is handed out once more, after [`Queue::done`].
//! - Keys are handed out in the order in which they became ready.
//! - Of several delays for one key the earliest counts, and a plain [`Queue::add`] takes the
//!   place of a delay.

mod backoff;
mod keys;
mod waiting;

pub use backoff::Backoff;
pub use keys::Queue;
