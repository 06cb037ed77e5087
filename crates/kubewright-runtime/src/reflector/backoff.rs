//! The backoff of a reflector.

use std::time::Duration;

use tokio::time::Instant;

use crate::random::Random;

const INITIAL: Duration = Duration::from_millis(800);
const MAX: Duration = Duration::from_secs(30);
/// The time without a failure after which the backoff starts again.
const RESET: Duration = Duration::from_secs(120);
/// The shortest time between two lists without a wait: a list is expensive for the server.
const LIST_INTERVAL: Duration = Duration::from_secs(10);

/// The waits after failures: 0.8 s, doubled up to 30 s, with a jitter of up to as much again. Two
/// minutes without a failure reset it. The numbers are those of client-go's reflector.
#[derive(Debug)]
pub struct RetryBackoff {
    next: Duration,
    last: Option<Instant>,
    expired: Option<Instant>,
    random: Random,
}

impl RetryBackoff {
    /// A backoff whose jitter is derived from `seed`; none takes a random seed.
    pub fn new(seed: Option<u64>) -> Self {
        Self {
            next: INITIAL,
            last: None,
            expired: None,
            random: Random::new(seed),
        }
    }

    /// Counts a failure and returns how long to wait.
    pub fn failed(&mut self) -> Duration {
        let now = Instant::now();
        if self.is_reset(now) {
            self.next = INITIAL;
        }
        let wait = self.next + self.next.mul_f64(self.random.fraction());
        self.next = (self.next * 2).min(MAX);
        // The time without a failure begins after the wait.
        self.last = Some(now + wait);
        wait
    }

    /// Counts a lost connection. The first in two minutes is retried without a wait, further ones
    /// count as failures.
    pub fn interrupted(&mut self) -> Duration {
        let now = Instant::now();
        if self.is_reset(now) {
            self.next = INITIAL;
            self.last = Some(now);
            return Duration::ZERO;
        }
        self.failed()
    }

    /// Counts a revision that the server no longer has, for example after a restart. The server
    /// responds, so a wait does not help. It counts as a failure only if it follows another expired
    /// revision within ten seconds, whatever failed before.
    pub fn expired(&mut self) -> Duration {
        let now = Instant::now();
        let former = self.expired.replace(now);
        match former {
            Some(former) if now.saturating_duration_since(former) < LIST_INTERVAL => self.failed(),
            _ => Duration::ZERO,
        }
    }

    /// A random duration between the bounds, the upper bound excluded.
    pub(super) fn between(&mut self, low: Duration, high: Duration) -> Duration {
        low + (high - low).mul_f64(self.random.fraction())
    }

    fn is_reset(&self, now: Instant) -> bool {
        self.last
            .is_none_or(|last| now.saturating_duration_since(last) >= RESET)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RetryBackoff;

    #[tokio::test(start_paused = true)]
    async fn wait_doubles_from_0_8_to_30_seconds_and_jitter_at_most_doubles_it() {
        let mut backoff = RetryBackoff::new(Some(1));
        for least in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
            let wait = backoff.failed().as_secs_f64();
            assert!((least..=2.0 * least).contains(&wait), "{wait} for {least}");
            tokio::time::advance(Duration::from_secs_f64(wait)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn two_minutes_without_a_failure_reset_the_wait() {
        let mut backoff = RetryBackoff::new(Some(1));
        for _ in 0..6 {
            let wait = backoff.failed();
            tokio::time::advance(wait).await;
        }
        tokio::time::advance(Duration::from_secs(119)).await;
        assert!(backoff.failed() >= Duration::from_secs(30));
        tokio::time::advance(Duration::from_secs(60 + 120)).await;
        assert!(backoff.failed() <= Duration::from_millis(1600));
    }

    #[tokio::test(start_paused = true)]
    async fn expired_revision_is_retried_at_once_unless_another_expired_within_ten_seconds() {
        let mut backoff = RetryBackoff::new(Some(1));
        for _ in 0..6 {
            let wait = backoff.failed();
            tokio::time::advance(wait).await;
        }
        assert_eq!(backoff.expired(), Duration::ZERO);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert!(backoff.expired() >= Duration::from_secs(30));
        tokio::time::advance(Duration::from_secs(10)).await;
        assert_eq!(backoff.expired(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn first_interruption_is_retried_at_once_and_the_second_waits() {
        let mut backoff = RetryBackoff::new(Some(1));
        assert_eq!(backoff.interrupted(), Duration::ZERO);
        assert!(backoff.interrupted() >= Duration::from_millis(800));
    }
}
