use std::collections::BTreeMap;
use std::time::Duration;

use super::MetricKind::{self, Counter, Gauge};
use super::{Exposition, Histogram};
use crate::client::RequestMetrics;
use crate::controller::{Handle, Metrics as ControllerMetrics};
use crate::election::Leadership;
use crate::informer::InformerStatus;
use crate::queue::Metrics as QueueMetrics;

/// More priorities than this are not told apart, as in controller-runtime.
const PRIORITIES: usize = 25;

/// Name, help, kind and value of a metric.
type Row<T> = (&'static str, &'static str, MetricKind, fn(&T) -> u64);

const CONTROLLER_COUNTS: &[Row<ControllerMetrics>] = &[
    (
        "controller_runtime_reconcile_errors_total",
        "Total number of reconciliation errors per controller",
        Counter,
        |one| one.errors,
    ),
    (
        "controller_runtime_terminal_reconcile_errors_total",
        "Total number of terminal reconciliation errors per controller",
        Counter,
        |one| one.terminal_errors,
    ),
    (
        "controller_runtime_reconcile_panics_total",
        "Total number of reconciliation panics per controller",
        Counter,
        |one| one.panics,
    ),
    (
        "controller_runtime_reconcile_timeouts_total",
        "Total number of reconciliation timeouts per controller",
        Counter,
        |one| one.timeouts,
    ),
    (
        "controller_runtime_max_concurrent_reconciles",
        "Maximum number of concurrent reconciles per controller",
        Gauge,
        |one| one.max_workers as u64,
    ),
    (
        "controller_runtime_active_workers",
        "Number of currently used workers per controller",
        Gauge,
        |one| one.active_workers as u64,
    ),
    (
        "kubewright_reconcile_conflicts_total",
        "Reconciliation errors that were conflicts: somebody else had written first",
        Counter,
        |one| one.conflicts,
    ),
    (
        "kubewright_mapper_panics_total",
        "Panics of mappers, predicates and streams",
        Counter,
        |one| one.mapper_panics,
    ),
];

const QUEUE_COUNTS: &[Row<QueueMetrics>] = &[
    (
        "workqueue_adds_total",
        "Total number of adds handled by workqueue",
        Counter,
        |one| one.adds,
    ),
    (
        "workqueue_retries_total",
        "Total number of retries handled by workqueue",
        Counter,
        |one| one.retries,
    ),
    (
        "kubewright_workqueue_replaced_delays_total",
        "Delays that ended early because the key was wanted at once",
        Counter,
        |one| one.replaced_delays,
    ),
    (
        "kubewright_workqueue_delayed",
        "Keys that wait for the end of their delay",
        Gauge,
        |one| one.delayed as u64,
    ),
];

const INFORMER_VALUES: &[Row<InformerStatus>] = &[
    (
        "kubewright_informer_synced",
        "Whether the state of the kind is in the cache",
        Gauge,
        |one| u64::from(one.is_synced),
    ),
    (
        "kubewright_informer_objects",
        "Objects in the cache",
        Gauge,
        |one| one.stats.objects as u64,
    ),
    (
        "kubewright_informer_bytes",
        "Bytes of the objects in the cache",
        Gauge,
        |one| one.stats.bytes as u64,
    ),
    (
        "kubewright_informer_revision_lag",
        "By how many revisions the cache is behind the one that is furthest",
        Gauge,
        |one| one.lag.unwrap_or_default(),
    ),
    (
        "kubewright_informer_relists_total",
        "States that were taken in again",
        Counter,
        |one| one.stats.relists(),
    ),
    (
        "kubewright_informer_changes_total",
        "Changes that list and watch have brought",
        Counter,
        |one| one.stats.changes,
    ),
    (
        "kubewright_informer_failures_total",
        "Failures of list and watch, all retried",
        Counter,
        |one| one.stats.failures,
    ),
    (
        "kubewright_informer_failing",
        "Whether nothing has worked since the last failure",
        Gauge,
        |one| u64::from(one.stats.last_error.is_some()),
    ),
];

/// Writes what controllers and their queues have done.
pub fn write_controllers(page: &mut Exposition, controllers: &[Handle]) {
    let all: Vec<_> = controllers
        .iter()
        .map(|one| (one.name(), one.metrics(), one.queue_metrics()))
        .collect();
    let mut total = page.family(
        "controller_runtime_reconcile_total",
        "Total number of reconciliations per controller",
        Counter,
    );
    for (name, metrics, _) in &all {
        for (result, count) in [
            ("error", metrics.errors),
            ("requeue", 0),
            ("requeue_after", metrics.requeues),
            ("success", metrics.successes),
        ] {
            total.count(&[("controller", name), ("result", result)], count);
        }
    }
    for (name, help, kind, count) in CONTROLLER_COUNTS {
        let mut family = page.family(name, help, *kind);
        for (controller, metrics, _) in &all {
            family.count(&[("controller", controller)], count(metrics));
        }
    }
    let mut time = page.family(
        "controller_runtime_reconcile_time_seconds",
        "Length of time per reconciliation per controller",
        MetricKind::Histogram,
    );
    for (name, metrics, _) in &all {
        time.histogram(&[("controller", name)], &metrics.reconcile_time);
    }
    let queues: Vec<_> = all
        .into_iter()
        .map(|(name, _, queue)| (name, queue))
        .collect();
    write_queues(page, &queues);
}

fn write_queues(page: &mut Exposition, queues: &[(&str, QueueMetrics)]) {
    let mut depth = page.family(
        "workqueue_depth",
        "Current depth of workqueue by workqueue and priority",
        Gauge,
    );
    for (name, queue) in queues {
        let beyond: usize = queue.depth.values().skip(PRIORITIES).sum();
        let told = queue.depth.iter().take(PRIORITIES);
        let told = told.map(|(priority, count)| (priority.0.to_string(), *count));
        let beyond = (beyond > 0).then(|| ("exceeded_cardinality_limit".to_owned(), beyond));
        for (priority, count) in told.chain(beyond) {
            let labels = [
                ("controller", *name),
                ("name", name),
                ("priority", &priority),
            ];
            depth.count(&labels, count as u64);
        }
    }
    for (name, help, kind, count) in QUEUE_COUNTS {
        let mut family = page.family(name, help, *kind);
        for (queue, metrics) in queues {
            family.count(&[("controller", queue), ("name", queue)], count(metrics));
        }
    }
    write_queue_times(page, queues);
}

fn write_queue_times(page: &mut Exposition, queues: &[(&str, QueueMetrics)]) {
    type Seconds = fn(&QueueMetrics) -> Duration;
    let gauges: [(&str, &str, Seconds); 2] = [
        (
            "workqueue_unfinished_work_seconds",
            "How many seconds of work has been done that is in progress and hasn't been observed \
             by work_duration. Large values indicate stuck threads. One can deduce the number of \
             stuck threads by observing the rate at which this increases.",
            |one| one.unfinished_work,
        ),
        (
            "workqueue_longest_running_processor_seconds",
            "How many seconds has the longest running processor for workqueue been running.",
            |one| one.longest_running,
        ),
    ];
    for (name, help, seconds) in gauges {
        let mut family = page.family(name, help, Gauge);
        for (queue, metrics) in queues {
            let labels = [("controller", *queue), ("name", queue)];
            family.sample(&labels, seconds(metrics).as_secs_f64());
        }
    }
    type Times = fn(&QueueMetrics) -> &Histogram;
    let histograms: [(&str, &str, Times); 2] = [
        (
            "workqueue_queue_duration_seconds",
            "How long in seconds an item stays in workqueue before being requested",
            |one| &one.queue_duration,
        ),
        (
            "workqueue_work_duration_seconds",
            "How long in seconds processing an item from workqueue takes.",
            |one| &one.work_duration,
        ),
    ];
    for (name, help, times) in histograms {
        let mut family = page.family(name, help, MetricKind::Histogram);
        for (queue, metrics) in queues {
            family.histogram(&[("controller", queue), ("name", queue)], times(metrics));
        }
    }
}

/// Writes what informers hold and have done; controller-runtime has no such metrics.
pub fn write_informers(page: &mut Exposition, informers: &[InformerStatus]) {
    let named = named(informers);
    for (name, help, kind, value) in INFORMER_VALUES {
        let mut family = page.family(name, help, *kind);
        for ([content, namespace, resource, selector], informer) in &named {
            let labels = [
                ("content", content.as_str()),
                ("namespace", namespace),
                ("resource", resource),
                ("selector", selector),
            ];
            family.count(&labels, value(informer));
        }
    }
}

/// Two projections of one kind would else have the same labels, which no scraper takes.
fn named(informers: &[InformerStatus]) -> Vec<([String; 4], &InformerStatus)> {
    let mut seen = BTreeMap::new();
    let named = informers.iter().map(|informer| {
        let spec = &informer.spec;
        let mut labels = [
            spec.content.name().to_owned(),
            spec.namespace.clone().unwrap_or_default(),
            spec.resource.qualified_name(),
            spec.labels.to_string(),
        ];
        let count: &mut u32 = seen.entry(labels.clone()).or_default();
        *count += 1;
        if *count > 1 {
            labels[0] = format!("{}-{count}", labels[0]);
        }
        (labels, informer)
    });
    named.collect()
}

/// Writes what a client has asked and been answered.
pub fn write_requests(page: &mut Exposition, requests: &RequestMetrics) {
    let mut total = page.family(
        "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code, method, and host.",
        Counter,
    );
    let answered = requests.answered();
    for ((method, code), count) in &answered {
        let labels = [
            ("code", code.as_str()),
            ("host", requests.host()),
            ("method", method.as_str()),
        ];
        total.count(&labels, *count);
    }
    let mut time = page.family(
        "rest_client_request_duration_seconds",
        "Request latency in seconds. Broken down by verb and host.",
        MetricKind::Histogram,
    );
    for (method, histogram) in requests.durations() {
        let labels = [("host", requests.host()), ("verb", method.as_str())];
        time.histogram(&labels, &histogram);
    }
}

/// Writes whether this process leads.
pub fn write_election(page: &mut Exposition, lease: &str, leadership: &Leadership) {
    let mut status = page.family(
        "leader_election_master_status",
        "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 \
         indicates master. 'name' is the string used to identify the lease. Please make sure to \
         group by name.",
        Gauge,
    );
    status.count(&[("name", lease)], u64::from(leadership.is_leading()));
}
