//! The metrics of a queue.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Priority;
use crate::prometheus::Histogram;

/// The metrics of a queue, with the names that controller-runtime has for them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// `workqueue_adds_total`: how often a key was enqueued that was not in the queue.
    pub adds: u64,
    /// `workqueue_retries_total`: how often a key was added with a delay.
    pub retries: u64,
    /// How often a delay ended early because the key was added without one.
    pub replaced_delays: u64,
    /// `workqueue_depth`: the number of keys that wait for a worker, by priority.
    pub depth: BTreeMap<Priority, usize>,
    /// The number of delayed keys.
    pub delayed: usize,
    /// The number of keys that are being processed.
    pub processing: usize,
    /// `workqueue_queue_duration_seconds`: how long keys waited for a worker, delays excluded.
    pub queue_duration: Histogram,
    /// `workqueue_work_duration_seconds`: how long keys were processed.
    pub work_duration: Histogram,
    /// `workqueue_unfinished_work_seconds`: the sum of the durations of the current runs.
    pub unfinished_work: Duration,
    /// `workqueue_longest_running_processor_seconds`: the longest duration of the current runs.
    pub longest_running: Duration,
}

/// The bucket limits of client-go: powers of ten from 10 ns to 1000 s.
const LIMITS: &[Duration] = &[
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
    Duration::from_secs(1000),
];

impl Default for Metrics {
    fn default() -> Self {
        Self {
            adds: 0,
            retries: 0,
            replaced_delays: 0,
            depth: BTreeMap::new(),
            delayed: 0,
            processing: 0,
            queue_duration: Histogram::new(LIMITS),
            work_duration: Histogram::new(LIMITS),
            unfinished_work: Duration::ZERO,
            longest_running: Duration::ZERO,
        }
    }
}
