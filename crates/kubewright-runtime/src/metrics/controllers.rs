//! Metrics of controllers.

use super::queues::write_queues;
use super::row::Row;
use crate::controller::{Handle, Metrics as ControllerMetrics};
use crate::prometheus::MetricKind::{Counter, Gauge};
use crate::prometheus::{Exposition, MetricKind};

const COUNTS: &[Row<ControllerMetrics>] = &[
    Row {
        name: "controller_runtime_reconcile_errors_total",
        help: "Total number of reconciliation errors per controller",
        kind: Counter,
        value: |metrics| metrics.errors,
    },
    Row {
        name: "controller_runtime_terminal_reconcile_errors_total",
        help: "Total number of terminal reconciliation errors per controller",
        kind: Counter,
        value: |metrics| metrics.terminal_errors,
    },
    Row {
        name: "controller_runtime_reconcile_panics_total",
        help: "Total number of reconciliation panics per controller",
        kind: Counter,
        value: |metrics| metrics.panics,
    },
    Row {
        name: "controller_runtime_reconcile_timeouts_total",
        help: "Total number of reconciliation timeouts per controller",
        kind: Counter,
        value: |metrics| metrics.timeouts,
    },
    Row {
        name: "controller_runtime_max_concurrent_reconciles",
        help: "Maximum number of concurrent reconciles per controller",
        kind: Gauge,
        value: |metrics| metrics.max_workers as u64,
    },
    Row {
        name: "controller_runtime_active_workers",
        help: "Number of currently used workers per controller",
        kind: Gauge,
        value: |metrics| metrics.active_workers as u64,
    },
    Row {
        name: "kubewright_reconcile_conflicts_total",
        help: "Reconciliation errors that were conflicts: the object had changed since it was read",
        kind: Counter,
        value: |metrics| metrics.conflicts,
    },
    Row {
        name: "kubewright_mapper_panics_total",
        help: "Panics of mappers, predicates and streams",
        kind: Counter,
        value: |metrics| metrics.mapper_panics,
    },
];

/// Writes the metrics of controllers and of their queues.
pub fn write_controllers(page: &mut Exposition, controllers: &[Handle]) {
    let all: Vec<_> = controllers
        .iter()
        .map(|controller| (controller.name(), controller.metrics()))
        .collect();
    let mut total = page.family(
        "controller_runtime_reconcile_total",
        "Total number of reconciliations per controller",
        Counter,
    );
    for (name, metrics) in &all {
        for (result, count) in [
            ("error", metrics.errors),
            ("requeue", 0),
            ("requeue_after", metrics.requeues),
            ("success", metrics.successes),
        ] {
            total.count(&[("controller", name), ("result", result)], count);
        }
    }
    for row in COUNTS {
        let mut family = page.family(row.name, row.help, row.kind);
        for (controller, metrics) in &all {
            family.count(&[("controller", controller)], (row.value)(metrics));
        }
    }
    let mut time = page.family(
        "controller_runtime_reconcile_time_seconds",
        "Length of time per reconciliation per controller",
        MetricKind::Histogram,
    );
    for (name, metrics) in &all {
        time.histogram(&[("controller", name)], &metrics.reconcile_time);
    }
    let queues: Vec<_> = controllers
        .iter()
        .map(|controller| (controller.name(), controller.queue_metrics()))
        .collect();
    write_queues(page, &queues);
}
