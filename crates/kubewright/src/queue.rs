//! Options of a controller's work queue: backoff, priorities, fairness.

pub use kubewright_runtime::queue::{Aging, Backoff, Fairness, Priority, QueueOptions};
