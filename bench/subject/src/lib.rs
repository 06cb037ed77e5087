//! What every Rust subject of a benchmark shares: its arguments, its clockwork and the lines it prints.
//!
//! `bench/README.md` has the protocol; the Go peers follow it with code of their own.

mod arguments;
mod cache;
mod checksum;
mod error;
mod memory;
mod metric;
mod processor;
mod reading;
mod sidecars;
mod tally;
mod timing;

pub use arguments::Arguments;
pub use cache::{CachedPods, Listed, measure_cache};
pub use checksum::{CHECKSUM_MASK, checksum, pod_checksum};
pub use error::{Error, chain};
pub use memory::{peak_mb, resident_mb};
pub use metric::{Measurement, Metric};
pub use processor::processor_time;
pub use reading::{percentile, print_reading};
pub use sidecars::{Sidecars, injected_checksum};
pub use tally::Tally;
pub use timing::{median, median_seconds};
