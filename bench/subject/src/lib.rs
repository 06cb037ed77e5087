//! The shared parts of the Rust subjects of benchmarks: arguments, timers and output.
//!
//! `bench/README.md` describes the protocol. The Go subjects implement it on their own.

mod arguments;
mod cache;
mod checksum;
mod error;
mod listed;
mod measurement;
mod memory;
mod metric;
mod processor;
mod reading;
mod sidecars;
mod tally;
mod timing;

pub use arguments::Arguments;
pub use cache::{CachedPods, measure_cache};
pub use checksum::{CHECKSUM_MASK, checksum, pod_checksum};
pub use error::{Error, chain};
pub use listed::Listed;
pub use measurement::Measurement;
pub use memory::{peak_mb, resident_mb};
pub use metric::Metric;
pub use processor::processor_time;
pub use reading::{percentile, print_reading};
pub use sidecars::{Sidecars, injected_checksum};
pub use tally::Tally;
pub use timing::{median, median_seconds};
