//! A line in the tables of metrics.

use crate::prometheus::MetricKind;

/// A metric that is a single number: its name, help and type, and how it is read from `T`.
pub(super) struct Row<T> {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) kind: MetricKind,
    pub(super) value: fn(&T) -> u64,
}
