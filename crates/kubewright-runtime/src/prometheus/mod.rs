//! Prometheus' text format, and histograms to fill it with.

mod exposition;
mod histogram;

pub use exposition::{Exposition, Family, MetricKind};
pub use histogram::Histogram;
