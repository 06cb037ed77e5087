//! Leader election on a Lease: only one of several replicas works.
//!
//! An [`Elector`] takes part in the election for as long as it runs; [`Leadership`] is whether
//! this process leads now. A term ends by itself at a time that is known beforehand: the renew
//! deadline after the last renewal was *sent*, which is earlier than another process can take the
//! Lease. So work stops in time even when no response arrives, and the [`Fence`] blocks late
//! writes. A process that lost the Lease remains a candidate.
//!
//! The age of a Lease is measured from the time at which it was seen to change, on the clock of
//! this process alone, so that clock skew between processes does not matter.

mod elector;
mod fence;
mod leadership;
mod lease;
mod times;

pub use elector::{Candidate, Elector};
pub use fence::Fence;
pub use leadership::{Leadership, Term};
pub use times::ElectionTimes;
