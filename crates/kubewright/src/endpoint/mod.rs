//! What a running operator answers to those who look after it: probes and metrics.

mod access;
mod checks;
mod metrics;
mod probes;
mod server;

pub(crate) use access::Access;
pub(crate) use checks::{Check, Checks};
pub(crate) use metrics::{ExtraMetrics, MetricsPage};
pub use metrics::{MetricsAccess, MetricsServing};
pub(crate) use probes::Probes;
pub(crate) use server::Endpoint;
