//! Histogram buckets for latencies.

use std::time::Duration;

/// The buckets of client-go's work queue and of controller-runtime's webhooks: from 10 ns to 1000 s,
/// each ten times the one before.
pub const LATENCY_BUCKETS: [Duration; 12] = [
    Duration::from_nanos(10),
    Duration::from_nanos(100),
    Duration::from_micros(1),
    Duration::from_micros(10),
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(10),
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_secs(100),
    Duration::from_secs(1_000),
];
