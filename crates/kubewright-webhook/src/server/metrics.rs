use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// What a webhook server has answered, by path. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct WebhookMetrics {
    paths: Arc<Mutex<BTreeMap<String, PathMetrics>>>,
}

/// What was answered under one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMetrics {
    /// How many answers had which HTTP status.
    pub codes: BTreeMap<u16, u64>,
    /// How many questions are being answered.
    pub in_flight: u64,
    /// How often the function panicked.
    pub panics: u64,
    /// How many answers took at most as long as each of [`PathMetrics::LIMITS`], without those
    /// that took less.
    pub latency: [u64; PathMetrics::LIMITS.len()],
    /// How long all answers took together.
    pub latency_sum: Duration,
}

impl PathMetrics {
    /// The buckets of controller-runtime: from ten nanoseconds, each ten times the one before.
    pub const LIMITS: [Duration; 12] = [
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
        Duration::from_secs(1_000),
    ];

    /// How many questions were answered.
    pub fn answered(&self) -> u64 {
        self.codes.values().sum()
    }
}

impl WebhookMetrics {
    /// The counts so far, by path.
    pub fn paths(&self) -> BTreeMap<String, PathMetrics> {
        self.paths.lock().clone()
    }

    /// Shows a path before anything was asked there, with the codes that answers mostly have, as
    /// controller-runtime does: a rate is then known from the first answer on.
    pub fn prepare(&self, path: &str) {
        self.with(path, |metrics| {
            for code in [200, 500] {
                metrics.codes.entry(code).or_default();
            }
        });
    }

    /// Counts a question that is being answered, until the value is told how it ended or dropped.
    pub(super) fn begin(&self, path: &str) -> UnderWay<'_> {
        self.with(path, |metrics| metrics.in_flight += 1);
        UnderWay {
            metrics: self,
            path: path.to_owned(),
            start: Instant::now(),
        }
    }

    pub(super) fn panicked(&self, path: &str) {
        self.with(path, |metrics| metrics.panics += 1);
    }

    fn with(&self, path: &str, change: impl FnOnce(&mut PathMetrics)) {
        change(self.paths.lock().entry(path.to_owned()).or_default());
    }
}

/// A question that is being answered.
pub(super) struct UnderWay<'a> {
    metrics: &'a WebhookMetrics,
    path: String,
    start: Instant,
}

impl UnderWay<'_> {
    pub(super) fn answered(self, code: u16) {
        let took = self.start.elapsed();
        self.metrics.with(&self.path, |metrics| {
            *metrics.codes.entry(code).or_default() += 1;
            metrics.latency_sum += took;
            let bucket = PathMetrics::LIMITS.iter().position(|limit| took <= *limit);
            if let Some(count) = bucket.and_then(|bucket| metrics.latency.get_mut(bucket)) {
                *count += 1;
            }
        });
    }
}

/// A client that leaves before it was answered is no longer served.
impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.metrics
            .with(&self.path, |metrics| metrics.in_flight -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use super::WebhookMetrics;

    #[test]
    fn a_path_is_shown_before_anything_was_asked() {
        let metrics = WebhookMetrics::default();
        metrics.prepare("/a");
        let paths = metrics.paths();
        assert_eq!(paths["/a"].codes, BTreeMap::from([(200, 0), (500, 0)]));
        assert_eq!(paths["/a"].answered(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_counted_by_path_code_and_time() {
        let metrics = WebhookMetrics::default();
        let slow = metrics.begin("/a");
        let left = metrics.begin("/a");
        assert_eq!(metrics.paths()["/a"].in_flight, 2);
        tokio::time::advance(Duration::from_millis(20)).await;
        slow.answered(200);
        drop(left);
        metrics.begin("/b").answered(500);
        let paths = metrics.paths();
        let (a, b) = (&paths["/a"], &paths["/b"]);
        assert_eq!((a.in_flight, a.answered(), a.codes[&200]), (0, 1, 1));
        assert_eq!(a.latency[7], 1, "more than 10 and at most 100 milliseconds");
        assert_eq!(a.latency_sum, Duration::from_millis(20));
        assert_eq!((b.codes[&500], b.latency[0]), (1, 1));
    }
}
