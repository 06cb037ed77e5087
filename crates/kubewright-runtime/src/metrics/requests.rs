//! Metrics of a client's requests.

use crate::client::RequestMetrics;
use crate::prometheus::{Exposition, MetricKind};

/// Writes the metrics of a client's requests.
pub fn write_requests(page: &mut Exposition, requests: &RequestMetrics) {
    let mut total = page.family(
        "rest_client_requests_total",
        "Number of HTTP requests, partitioned by status code, method, and host.",
        MetricKind::Counter,
    );
    for ((method, code), count) in requests.responses() {
        let labels = [
            ("code", code.as_str()),
            ("host", requests.host()),
            ("method", method.as_str()),
        ];
        total.count(&labels, count);
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
