use std::collections::BTreeMap;
use std::time::Duration;

use super::Priority;
use crate::prometheus::Histogram;

/// What a queue has done and holds, under the names that controller-runtime gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// `workqueue_adds_total`: how often a key that was not wanted became so.
    pub adds: u64,
    /// `workqueue_retries_total`: how often a key was wanted after a delay.
    pub retries: u64,
    /// How often a delay ended early because the key was wanted at once.
    pub replaced_delays: u64,
    /// `workqueue_depth`: how many keys wait for a worker, by priority.
    pub depth: BTreeMap<Priority, usize>,
    /// How many keys wait for the end of their delay.
    pub delayed: usize,
    /// How many keys are with a worker.
    pub under_way: usize,
    /// `workqueue_queue_duration_seconds`: how long keys waited for a worker.
    pub queue_duration: Histogram,
    /// `workqueue_work_duration_seconds`: how long workers had them.
    pub work_duration: Histogram,
    /// `workqueue_unfinished_work_seconds`: how long workers have had those that they have now,
    /// all together.
    pub unfinished_work: Duration,
    /// `workqueue_longest_running_processor_seconds`: and the longest of these.
    pub longest_running: Duration,
}

/// 10 ns, 100 ns and so on to 1000 s, as client-go has them.
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
            under_way: 0,
            queue_duration: Histogram::new(LIMITS),
            work_duration: Histogram::new(LIMITS),
            unfinished_work: Duration::ZERO,
            longest_running: Duration::ZERO,
        }
    }
}
