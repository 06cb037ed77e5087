//! Metrics: the page that Prometheus scrapes, and families of an operator's own.

pub use kubewright_runtime::prometheus::{Exposition, Family, Histogram, MetricKind};

pub use crate::endpoint::{MetricsAccess, MetricsServing};
