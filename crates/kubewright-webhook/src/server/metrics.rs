//! Metrics of a webhook server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::LATENCY_BUCKETS;
use parking_lot::Mutex;
use tokio::time::Instant;

/// The requests that a webhook server has handled, by path. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct WebhookMetrics {
    paths: Arc<Mutex<BTreeMap<String, PathMetrics>>>,
}

/// The requests for one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMetrics {
    /// The number of responses by HTTP status code.
    pub codes: BTreeMap<u16, u64>,
    /// The number of requests in flight.
    pub in_flight: u64,
    /// How often the handler panicked.
    pub panics: u64,
    /// The number of requests in each of [`LATENCY_BUCKETS`], not cumulative.
    pub latency: [u64; LATENCY_BUCKETS.len()],
    /// The sum of the latencies of all requests.
    pub latency_sum: Duration,
}

impl PathMetrics {
    /// The number of responses.
    pub fn responses(&self) -> u64 {
        self.codes.values().sum()
    }
}

impl WebhookMetrics {
    /// The current counts, by path.
    pub fn paths(&self) -> BTreeMap<String, PathMetrics> {
        self.paths.lock().clone()
    }

    /// Adds a path with zero counts for the most frequent status codes, as controller-runtime does,
    /// so that a rate can be computed from the first response on.
    pub fn prepare(&self, path: &str) {
        self.update(path, |metrics| {
            for code in [200, 500] {
                metrics.codes.entry(code).or_default();
            }
        });
    }

    /// Counts a request as in flight until the returned value is dropped.
    pub(super) fn begin(&self, path: &str) -> MeasuredRequest<'_> {
        self.update(path, |metrics| metrics.in_flight += 1);
        MeasuredRequest {
            metrics: self,
            path: path.to_owned(),
            start: Instant::now(),
        }
    }

    pub(super) fn count_panic(&self, path: &str) {
        self.update(path, |metrics| metrics.panics += 1);
    }

    fn update(&self, path: &str, change: impl FnOnce(&mut PathMetrics)) {
        change(self.paths.lock().entry(path.to_owned()).or_default());
    }
}

/// A request whose latency is measured.
pub(super) struct MeasuredRequest<'a> {
    metrics: &'a WebhookMetrics,
    path: String,
    start: Instant,
}

impl MeasuredRequest<'_> {
    /// Records the status code and the latency of the response.
    pub(super) fn finish(self, code: u16) {
        let latency = self.start.elapsed();
        self.metrics.update(&self.path, |metrics| {
            *metrics.codes.entry(code).or_default() += 1;
            metrics.latency_sum += latency;
            let bucket = LATENCY_BUCKETS.iter().position(|limit| latency <= *limit);
            if let Some(count) = bucket.and_then(|bucket| metrics.latency.get_mut(bucket)) {
                *count += 1;
            }
        });
    }
}

/// Also runs when the client disconnects before the response.
impl Drop for MeasuredRequest<'_> {
    fn drop(&mut self) {
        self.metrics
            .update(&self.path, |metrics| metrics.in_flight -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::WebhookMetrics;

    #[test]
    fn prepared_path_has_zero_counts_before_the_first_request() {
        let metrics = WebhookMetrics::default();
        metrics.prepare("/a");
        let paths = metrics.paths();
        assert_eq!(paths["/a"].codes, BTreeMap::from([(200, 0), (500, 0)]));
        assert_eq!(paths["/a"].responses(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn responses_are_counted_by_path_code_and_latency() {
        let metrics = WebhookMetrics::default();
        let slow = metrics.begin("/a");
        let disconnected = metrics.begin("/a");
        assert_eq!(metrics.paths()["/a"].in_flight, 2);
        tokio::time::advance(Duration::from_millis(20)).await;
        slow.finish(200);
        drop(disconnected);
        metrics.begin("/b").finish(500);
        let paths = metrics.paths();
        let (a, b) = (&paths["/a"], &paths["/b"]);
        assert_eq!((a.in_flight, a.responses(), a.codes[&200]), (0, 1, 1));
        assert_eq!(a.latency[7], 1, "more than 10 and at most 100 milliseconds");
        assert_eq!(a.latency_sum, Duration::from_millis(20));
        assert_eq!((b.codes[&500], b.latency[0]), (1, 1));
    }
}
