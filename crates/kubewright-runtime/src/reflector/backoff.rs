use std::time::Duration;

use tokio::time::Instant;

use crate::random::Random;

const FIRST: Duration = Duration::from_millis(800);
const LONGEST: Duration = Duration::from_secs(30);
const QUIET: Duration = Duration::from_secs(120);
/// A list is work for a server: none follows another sooner than this without a wait.
const BETWEEN_LISTS: Duration = Duration::from_secs(10);

/// How long to wait after failures: 0.8 s, doubled up to 30 s, plus up to as much again; two
/// minutes without a failure begin anew.
#[derive(Debug)]
pub struct RetryBackoff {
    next: Duration,
    last: Option<Instant>,
    expired: Option<Instant>,
    random: Random,
}

impl RetryBackoff {
    /// A backoff whose jitter follows from `seed`; none takes one of its own.
    pub fn new(seed: Option<u64>) -> Self {
        Self {
            next: FIRST,
            last: None,
            expired: None,
            random: Random::new(seed),
        }
    }

    /// Counts a failure now, and says how long to wait.
    pub fn failed(&mut self) -> Duration {
        let now = Instant::now();
        if self.is_quiet(now) {
            self.next = FIRST;
        }
        let wait = self.next + self.next.mul_f64(self.random.fraction());
        self.next = (self.next * 2).min(LONGEST);
        // Quiet begins when the wait is over.
        self.last = Some(now + wait);
        wait
    }

    /// Counts an interruption: the first one in a while costs nothing, further ones count as
    /// failures.
    pub fn interrupted(&mut self) -> Duration {
        let now = Instant::now();
        if self.is_quiet(now) {
            self.next = FIRST;
            self.last = Some(now);
            return Duration::ZERO;
        }
        self.failed()
    }

    /// Counts a revision that the server has forgotten, as one that restarts does. It answers, and
    /// waiting would not help: whatever failed before, only one that follows soon after another
    /// counts as a failure.
    pub fn expired(&mut self) -> Duration {
        let now = Instant::now();
        let former = self.expired.replace(now);
        match former {
            Some(former) if now.saturating_duration_since(former) < BETWEEN_LISTS => self.failed(),
            _ => Duration::ZERO,
        }
    }

    /// A number between the bounds, the upper one excluded.
    pub(super) fn between(&mut self, low: Duration, high: Duration) -> Duration {
        low + (high - low).mul_f64(self.random.fraction())
    }

    fn is_quiet(&self, now: Instant) -> bool {
        self.last
            .is_none_or(|last| now.saturating_duration_since(last) >= QUIET)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RetryBackoff;

    #[tokio::test(start_paused = true)]
    async fn waits_grow_from_0_8_to_30_seconds_and_at_most_double_by_jitter() {
        let mut backoff = RetryBackoff::new(Some(1));
        for least in [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0] {
            let wait = backoff.failed().as_secs_f64();
            assert!((least..=2.0 * least).contains(&wait), "{wait} for {least}");
            tokio::time::advance(Duration::from_secs_f64(wait)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn two_quiet_minutes_begin_anew() {
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
    async fn an_expired_revision_is_free_after_failures_and_another_soon_after_is_not() {
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
    async fn one_interruption_is_free_and_the_next_is_not() {
        let mut backoff = RetryBackoff::new(Some(1));
        assert_eq!(backoff.interrupted(), Duration::ZERO);
        assert!(backoff.interrupted() >= Duration::from_millis(800));
    }
}
