//! Metrics of the work queues of controllers.

use std::time::Duration;

use super::row::Row;
use crate::prometheus::MetricKind::{Counter, Gauge};
use crate::prometheus::{Exposition, Histogram, MetricKind};
use crate::queue::Metrics as QueueMetrics;

/// How many priorities have a label of their own. Further ones share a label, as in
/// controller-runtime (pkg/internal/metrics/workqueue.go).
const MAX_PRIORITIES: usize = 25;

const COUNTS: &[Row<QueueMetrics>] = &[
    Row {
        name: "workqueue_adds_total",
        help: "Total number of adds handled by workqueue",
        kind: Counter,
        value: |queue| queue.adds,
    },
    Row {
        name: "workqueue_retries_total",
        help: "Total number of retries handled by workqueue",
        kind: Counter,
        value: |queue| queue.retries,
    },
    Row {
        name: "kubewright_workqueue_replaced_delays_total",
        help: "Delays that ended early because the key was added without a delay",
        kind: Counter,
        value: |queue| queue.replaced_delays,
    },
    Row {
        name: "kubewright_workqueue_delayed",
        help: "Keys that wait for the end of their delay",
        kind: Gauge,
        value: |queue| queue.delayed as u64,
    },
];

/// A gauge of a duration.
struct DurationRow {
    name: &'static str,
    help: &'static str,
    value: fn(&QueueMetrics) -> Duration,
}

const DURATIONS: [DurationRow; 2] = [
    DurationRow {
        name: "workqueue_unfinished_work_seconds",
        help: "How many seconds of work has been done that is in progress and hasn't been observed \
               by work_duration. Large values indicate stuck threads. One can deduce the number of \
               stuck threads by observing the rate at which this increases.",
        value: |queue| queue.unfinished_work,
    },
    DurationRow {
        name: "workqueue_longest_running_processor_seconds",
        help: "How many seconds has the longest running processor for workqueue been running.",
        value: |queue| queue.longest_running,
    },
];

/// A histogram of durations.
struct HistogramRow {
    name: &'static str,
    help: &'static str,
    value: fn(&QueueMetrics) -> &Histogram,
}

const HISTOGRAMS: [HistogramRow; 2] = [
    HistogramRow {
        name: "workqueue_queue_duration_seconds",
        help: "How long in seconds an item stays in workqueue before being requested",
        value: |queue| &queue.queue_duration,
    },
    HistogramRow {
        name: "workqueue_work_duration_seconds",
        help: "How long in seconds processing an item from workqueue takes.",
        value: |queue| &queue.work_duration,
    },
];

/// Writes the metrics of queues, each with the name of its controller.
pub(super) fn write_queues(page: &mut Exposition, queues: &[(&str, QueueMetrics)]) {
    write_depth(page, queues);
    for row in COUNTS {
        let mut family = page.family(row.name, row.help, row.kind);
        for (name, queue) in queues {
            family.count(&labels(name), (row.value)(queue));
        }
    }
    for row in DURATIONS {
        let mut family = page.family(row.name, row.help, Gauge);
        for (name, queue) in queues {
            family.sample(&labels(name), (row.value)(queue).as_secs_f64());
        }
    }
    for row in HISTOGRAMS {
        let mut family = page.family(row.name, row.help, MetricKind::Histogram);
        for (name, queue) in queues {
            family.histogram(&labels(name), (row.value)(queue));
        }
    }
}

/// controller-runtime labels the metrics of a queue twice, with the queue's name and with the
/// controller's, which are equal.
fn labels(name: &str) -> [(&str, &str); 2] {
    [("controller", name), ("name", name)]
}

fn write_depth(page: &mut Exposition, queues: &[(&str, QueueMetrics)]) {
    let mut depth = page.family(
        "workqueue_depth",
        "Current depth of workqueue by workqueue and priority",
        Gauge,
    );
    for (name, queue) in queues {
        let labeled = queue
            .depth
            .iter()
            .take(MAX_PRIORITIES)
            .map(|(priority, count)| (priority.0.to_string(), *count));
        let beyond: usize = queue.depth.values().skip(MAX_PRIORITIES).sum();
        let shared = (beyond > 0).then(|| ("exceeded_cardinality_limit".to_owned(), beyond));
        for (priority, count) in labeled.chain(shared) {
            let [controller, queue] = labels(name);
            let labels = [controller, queue, ("priority", priority.as_str())];
            depth.count(&labels, count as u64);
        }
    }
}
