//! Plain counters, for whoever shows them: each part of the runtime gives its own as a value.

mod histogram;

pub use histogram::Histogram;
