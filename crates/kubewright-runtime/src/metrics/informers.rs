//! Metrics of informers. controller-runtime has none of them.

use std::collections::BTreeMap;

use super::row::Row;
use crate::informer::InformerStatus;
use crate::prometheus::Exposition;
use crate::prometheus::MetricKind::{Counter, Gauge};

const VALUES: &[Row<InformerStatus>] = &[
    Row {
        name: "kubewright_informer_synced",
        help: "Whether the state of the kind is in the cache",
        kind: Gauge,
        value: |informer| u64::from(informer.is_synced),
    },
    Row {
        name: "kubewright_informer_objects",
        help: "Objects in the cache",
        kind: Gauge,
        value: |informer| informer.stats.objects as u64,
    },
    Row {
        name: "kubewright_informer_bytes",
        help: "Bytes of the objects in the cache",
        kind: Gauge,
        value: |informer| informer.stats.bytes as u64,
    },
    Row {
        name: "kubewright_informer_revision_lag",
        help: "How many revisions the cache is behind the newest revision of all caches",
        kind: Gauge,
        value: |informer| informer.lag.unwrap_or_default(),
    },
    Row {
        name: "kubewright_informer_relists_total",
        help: "Lists of the whole state after the first",
        kind: Counter,
        value: |informer| informer.stats.relists(),
    },
    Row {
        name: "kubewright_informer_changes_total",
        help: "Changes received by list and watch",
        kind: Counter,
        value: |informer| informer.stats.changes,
    },
    Row {
        name: "kubewright_informer_failures_total",
        help: "Failures of list and watch, all retried",
        kind: Counter,
        value: |informer| informer.stats.failures,
    },
    Row {
        name: "kubewright_informer_failing",
        help: "Whether list and watch have not succeeded since their last failure",
        kind: Gauge,
        value: |informer| u64::from(informer.stats.last_error.is_some()),
    },
];

/// An informer and the labels of its metrics: content, namespace, resource, selector.
struct Labeled<'a> {
    labels: [String; 4],
    informer: &'a InformerStatus,
}

/// Writes the metrics of informers.
pub fn write_informers(page: &mut Exposition, informers: &[InformerStatus]) {
    let all = labeled(informers);
    for row in VALUES {
        let mut family = page.family(row.name, row.help, row.kind);
        for Labeled { labels, informer } in &all {
            let [content, namespace, resource, selector] = labels;
            let labels = [
                ("content", content.as_str()),
                ("namespace", namespace),
                ("resource", resource),
                ("selector", selector),
            ];
            family.count(&labels, (row.value)(informer));
        }
    }
}

/// Numbers informers that would have the same labels, such as two projections of one kind:
/// Prometheus rejects a page that has a series twice.
fn labeled(informers: &[InformerStatus]) -> Vec<Labeled<'_>> {
    let mut seen = BTreeMap::new();
    let labeled = informers.iter().map(|informer| {
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
        Labeled { labels, informer }
    });
    labeled.collect()
}
