//! Rate limits: a token bucket.

use std::time::Duration;

use tokio::time::Instant;

/// A rate limit with a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// The number of tokens that are added per second, at most 1,000,000,000.
    pub per_second: f64,
    /// The number of tokens that are available at once.
    pub burst: u32,
}

impl Default for RateLimit {
    /// 10 per second and 100 at once, the defaults of client-go's
    /// `DefaultTypedControllerRateLimiter`.
    fn default() -> Self {
        Self {
            per_second: 10.0,
            burst: 100,
        }
    }
}

/// The remaining tokens of a [`RateLimit`].
///
/// Stored as a single instant, the time at which the bucket is full again: nothing has to be
/// refilled in the background.
#[derive(Debug, Default)]
pub(crate) struct TokenBucket {
    full_at: Option<Instant>,
}

impl TokenBucket {
    /// Takes a token and returns the delay until it can be used.
    pub(crate) fn reserve(&mut self, limit: RateLimit, now: Instant) -> Duration {
        let interval = Duration::try_from_secs_f64(limit.per_second.recip())
            .unwrap_or(Duration::MAX)
            .max(Duration::from_nanos(1));
        let full_at = self.full_at.map_or(now, |time| time.max(now));
        let Some(next) = full_at.checked_add(interval) else {
            // A bucket that is never refilled: only the first burst is available.
            return Duration::MAX;
        };
        self.full_at = Some(next);
        let missing = next - now;
        missing.saturating_sub(interval.saturating_mul(limit.burst.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{RateLimit, TokenBucket};

    #[test]
    fn burst_passes_at_once_and_the_rest_at_the_rate() {
        let limit = RateLimit {
            per_second: 10.0,
            burst: 3,
        };
        let mut bucket = TokenBucket::default();
        let start = Instant::now();
        let waits = [0; 5].map(|_| bucket.reserve(limit, start).as_millis());
        assert_eq!(waits, [0, 0, 0, 100, 200]);
        let later = start + Duration::from_secs(60);
        let waits = [0; 4].map(|_| bucket.reserve(limit, later).as_millis());
        assert_eq!(waits, [0, 0, 0, 100], "tokens accumulate up to a burst");
    }
}
