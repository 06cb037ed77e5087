//! Who of several copies works: leader election on a Lease.
//!
//! An [`Elector`] takes part for as long as it runs; [`Leadership`] says to everybody else in the
//! process whether it leads now. Leading ends by itself, at a time that is known beforehand: the
//! renew deadline after the last renewal was *sent*, which is earlier than anybody else may take
//! the Lease over. So work stops in time even when no answer comes, and the [`Fence`] keeps late
//! writes in. One that has lost goes on as a candidate.
//!
//! How long a Lease has not changed is measured from when it was seen to change, on the clock of
//! this process alone: clocks that differ do not matter.

mod elector;
mod fence;
mod leadership;
mod lease;
mod times;

pub use elector::{Candidate, Elector};
pub use fence::Fence;
pub use leadership::{Leadership, Term};
pub use times::ElectionTimes;
