//! The metrics of a controller.

use std::time::Duration;

use crate::prometheus::Histogram;

/// The metrics of a controller, with the names that controller-runtime has for them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// `controller_runtime_reconcile_total{result="success"}`.
    pub successes: u64,
    /// `controller_runtime_reconcile_total{result="requeue_after"}`.
    pub requeues: u64,
    /// `controller_runtime_reconcile_total{result="error"}` and
    /// `controller_runtime_reconcile_errors_total`; includes the next four counters.
    pub errors: u64,
    /// `controller_runtime_terminal_reconcile_errors_total`.
    pub terminal_errors: u64,
    /// `controller_runtime_reconcile_panics_total`.
    pub panics: u64,
    /// `controller_runtime_reconcile_timeouts_total`.
    pub timeouts: u64,
    /// Errors that were conflicts: the object had changed since it was read.
    pub conflicts: u64,
    /// Panics of mappers, predicates and streams.
    pub mapper_panics: u64,
    /// `controller_runtime_active_workers`.
    pub active_workers: usize,
    /// `controller_runtime_max_concurrent_reconciles`.
    pub max_workers: usize,
    /// `controller_runtime_reconcile_time_seconds`.
    pub reconcile_time: Histogram,
}

/// The bucket limits of controller-runtime, 5 ms to 60 s.
const LIMITS: &[Duration] = &[
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(150),
    Duration::from_millis(200),
    Duration::from_millis(250),
    Duration::from_millis(300),
    Duration::from_millis(350),
    Duration::from_millis(400),
    Duration::from_millis(450),
    Duration::from_millis(500),
    Duration::from_millis(600),
    Duration::from_millis(700),
    Duration::from_millis(800),
    Duration::from_millis(900),
    Duration::from_millis(1000),
    Duration::from_millis(1250),
    Duration::from_millis(1500),
    Duration::from_millis(1750),
    Duration::from_millis(2000),
    Duration::from_millis(2500),
    Duration::from_millis(3000),
    Duration::from_millis(3500),
    Duration::from_millis(4000),
    Duration::from_millis(4500),
    Duration::from_secs(5),
    Duration::from_secs(6),
    Duration::from_secs(7),
    Duration::from_secs(8),
    Duration::from_secs(9),
    Duration::from_secs(10),
    Duration::from_secs(15),
    Duration::from_secs(20),
    Duration::from_secs(25),
    Duration::from_secs(30),
    Duration::from_secs(40),
    Duration::from_secs(50),
    Duration::from_secs(60),
];

impl Default for Metrics {
    fn default() -> Self {
        Self {
            successes: 0,
            requeues: 0,
            errors: 0,
            terminal_errors: 0,
            panics: 0,
            timeouts: 0,
            conflicts: 0,
            mapper_panics: 0,
            active_workers: 0,
            max_workers: 0,
            reconcile_time: Histogram::new(LIMITS),
        }
    }
}
