//! The metrics of webhooks, under the names of controller-runtime.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_core::{ConversionDescription, LATENCY_BUCKETS};
use kubewright_runtime::prometheus::{Exposition, Histogram, MetricKind};
use kubewright_webhook::{PathMetrics, WebhookMetrics};

const LIMITS: &[Duration] = &LATENCY_BUCKETS;

/// Writes the metrics of webhooks, under the names of controller-runtime
/// (`pkg/webhook/internal/metrics`). Writes nothing for an operator without webhooks.
pub(crate) fn write_webhooks(page: &mut Exposition, metrics: &WebhookMetrics) {
    let paths = metrics.paths();
    if paths.is_empty() {
        return;
    }
    let mut latency = page.family(
        "controller_runtime_webhook_latency_seconds",
        "Histogram of the latency of processing admission requests",
        MetricKind::Histogram,
    );
    for (path, metrics) in &paths {
        let count = metrics.responses();
        let times = Histogram::counted(LIMITS, &metrics.latency, count, metrics.latency_sum);
        latency.histogram(&[("webhook", path.as_str())], &times);
    }
    let mut total = page.family(
        "controller_runtime_webhook_requests_total",
        "Total number of admission requests by HTTP status code.",
        MetricKind::Counter,
    );
    for (path, metrics) in &paths {
        for (code, count) in &metrics.codes {
            let code = code.to_string();
            total.count(&[("code", &code), ("webhook", path)], *count);
        }
    }
    let mut in_flight = page.family(
        "controller_runtime_webhook_requests_in_flight",
        "Current number of admission requests being served.",
        MetricKind::Gauge,
    );
    for (path, metrics) in &paths {
        in_flight.count(&[("webhook", path.as_str())], metrics.in_flight);
    }
    write_panics(page, &paths);
}

fn write_panics(page: &mut Exposition, paths: &BTreeMap<String, PathMetrics>) {
    let panics: u64 = paths.values().map(|metrics| metrics.panics).sum();
    let conversion_panics = paths
        .get(ConversionDescription::PATH)
        .map_or(0, |metrics| metrics.panics);
    for (name, help, count) in [
        (
            "controller_runtime_webhook_panics_total",
            "Total number of webhook panics",
            panics - conversion_panics,
        ),
        (
            "controller_runtime_conversion_webhook_panics_total",
            "Total number of conversion webhook panics",
            conversion_panics,
        ),
    ] {
        page.family(name, help, MetricKind::Counter)
            .count(&[], count);
    }
}

#[cfg(test)]
mod tests {
    use kubewright_runtime::prometheus::Exposition;
    use kubewright_webhook::WebhookMetrics;

    use super::write_webhooks;

    fn text(metrics: &WebhookMetrics) -> String {
        let mut page = Exposition::default();
        write_webhooks(&mut page, metrics);
        page.into_text()
    }

    #[test]
    fn operator_without_webhooks_writes_no_metrics_of_webhooks() {
        assert_eq!(text(&WebhookMetrics::default()), "");
    }

    #[test]
    fn path_without_requests_is_written_with_zeros() {
        let metrics = WebhookMetrics::default();
        metrics.prepare("/convert");
        let text = text(&metrics);
        for line in [
            r#"controller_runtime_webhook_requests_total{code="200",webhook="/convert"} 0"#,
            r#"controller_runtime_webhook_requests_total{code="500",webhook="/convert"} 0"#,
            r#"controller_runtime_webhook_requests_in_flight{webhook="/convert"} 0"#,
            r#"controller_runtime_webhook_latency_seconds_bucket{webhook="/convert",le="1e-8"} 0"#,
            r#"controller_runtime_webhook_latency_seconds_count{webhook="/convert"} 0"#,
            "controller_runtime_webhook_panics_total 0",
            "controller_runtime_conversion_webhook_panics_total 0",
        ] {
            assert!(
                text.lines().any(|written| written == line),
                "{line} in {text}"
            );
        }
    }
}
