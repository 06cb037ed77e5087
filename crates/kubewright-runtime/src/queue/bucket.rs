use std::time::Duration;

use tokio::time::Instant;

/// A limit on retries of all keys together: `burst` at once, then `per_second`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// How many in a second; not more than a thousand million.
    pub per_second: f64,
    /// How many at once.
    pub burst: u32,
}

impl Default for Bucket {
    /// 10 a second and 100 at once, as client-go has it.
    fn default() -> Self {
        Self {
            per_second: 10.0,
            burst: 100,
        }
    }
}

/// A bucket under way. One number suffices: the time at which it would be full again.
#[derive(Debug, Default)]
pub(crate) struct Level {
    full_at: Option<Instant>,
}

impl Level {
    /// Takes a token and says how long to wait for it.
    pub(crate) fn reserve(&mut self, bucket: Bucket, now: Instant) -> Duration {
        let interval = Duration::try_from_secs_f64(bucket.per_second.recip())
            .unwrap_or(Duration::MAX)
            .max(Duration::from_nanos(1));
        let full_at = self.full_at.map_or(now, |time| time.max(now));
        let Some(next) = full_at.checked_add(interval) else {
            // One that is never refilled: the first burst is all there is.
            return Duration::MAX;
        };
        self.full_at = Some(next);
        let missing = next - now;
        missing.saturating_sub(interval.saturating_mul(bucket.burst.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Bucket, Level};

    #[test]
    fn a_burst_passes_at_once_and_the_rest_at_the_rate() {
        let bucket = Bucket {
            per_second: 10.0,
            burst: 3,
        };
        let mut level = Level::default();
        let start = Instant::now();
        let waits = [0; 5].map(|_| level.reserve(bucket, start).as_millis());
        assert_eq!(waits, [0, 0, 0, 100, 200]);
        let later = start + Duration::from_secs(60);
        let waits = [0; 4].map(|_| level.reserve(bucket, later).as_millis());
        assert_eq!(waits, [0, 0, 0, 100], "no more than a burst is saved up");
    }
}
