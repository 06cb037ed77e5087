//! Durations counted in buckets.

use std::time::Duration;

/// A histogram of durations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    limits: &'static [Duration],
    counts: Vec<u64>,
    count: u64,
    sum: Duration,
}

impl Histogram {
    /// An empty histogram whose buckets end at these limits, in ascending order.
    pub fn new(limits: &'static [Duration]) -> Self {
        Self {
            limits,
            counts: vec![0; limits.len()],
            count: 0,
            sum: Duration::ZERO,
        }
    }

    /// A histogram of durations that were counted elsewhere. `counts` has one number per bucket, not
    /// cumulative; `count` and `sum` include the durations beyond the last limit.
    pub fn counted(limits: &'static [Duration], counts: &[u64], count: u64, sum: Duration) -> Self {
        let mut counts = counts.to_vec();
        counts.resize(limits.len(), 0);
        Self {
            limits,
            counts,
            count,
            sum,
        }
    }

    /// Adds a duration.
    pub fn observe(&mut self, time: Duration) {
        let bucket = self.limits.partition_point(|limit| *limit < time);
        // A duration beyond the last limit is in no bucket: the exposition adds `+Inf` from `count`.
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
    }

    /// The limit of each bucket, and how many durations are at most that long.
    pub fn cumulative(&self) -> impl Iterator<Item = (Duration, u64)> {
        let counts = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        self.limits.iter().copied().zip(counts)
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all durations.
    pub fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Histogram;

    const LIMITS: &[Duration] = &[Duration::from_millis(10), Duration::from_millis(100)];

    #[test]
    fn counts_from_elsewhere_equal_observed_ones() {
        let mut observed = Histogram::new(LIMITS);
        observed.observe(Duration::from_millis(5));
        observed.observe(Duration::from_millis(200));
        let sum = Duration::from_millis(205);
        assert_eq!(Histogram::counted(LIMITS, &[1], 2, sum), observed);
    }

    #[test]
    fn buckets_are_cumulative_and_include_their_limits() {
        let mut histogram = Histogram::new(LIMITS);
        for milliseconds in [0, 10, 11, 100, 101] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let counts: Vec<_> = histogram.cumulative().map(|(_, count)| count).collect();
        assert_eq!(counts, [2, 4]);
        assert_eq!(histogram.count(), 5);
        assert_eq!(histogram.sum(), Duration::from_millis(222));
    }
}
