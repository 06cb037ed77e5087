//! The HTTP endpoints of a running operator: probes and metrics.

mod checks;
mod metrics;
mod probes;
mod reviews;
mod server;

pub(crate) use checks::{Check, Checks};
pub(crate) use metrics::{ExtraMetrics, MetricsPage};
pub use metrics::{MetricsAccess, MetricsServing};
pub(crate) use probes::Probes;
pub(crate) use reviews::ReviewClient;
pub(crate) use server::Endpoint;
