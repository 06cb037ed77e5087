//! The wall clock, as a value that tests replace.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// The source of wall-clock time.
///
/// Code that needs a timestamp takes a clock, so that wall clock and timers move together in a test
/// with tokio's paused time.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    System,
    /// Wall time `base` at the tokio instant `origin`.
    Anchored {
        base: Timestamp,
        origin: Instant,
    },
}

impl Clock {
    /// The machine's own clock.
    pub fn system() -> Self {
        Self {
            source: Source::System,
        }
    }

    /// A clock that reads `base` now and moves with `tokio::time`, paused or not.
    ///
    /// # Panics
    ///
    /// When time is paused and this is called outside a tokio runtime.
    pub fn starting_at(base: Timestamp) -> Self {
        Self {
            source: Source::Anchored {
                base,
                origin: Instant::now(),
            },
        }
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        match &self.source {
            Source::System => Timestamp::now(),
            Source::Anchored { base, origin } => {
                let elapsed = SignedDuration::try_from(origin.elapsed()).unwrap_or_default();
                base.checked_add(elapsed).unwrap_or(Timestamp::MAX)
            }
        }
    }

    /// How long until the clock reads `time`; zero once it has passed.
    pub fn until(&self, time: Timestamp) -> Duration {
        Duration::try_from(time.duration_since(self.now())).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::Clock;

    #[tokio::test(start_paused = true)]
    async fn anchored_clock_moves_with_paused_time() {
        let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let clock = Clock::starting_at(start);
        tokio::time::advance(Duration::from_secs(90)).await;
        assert_eq!(clock.now(), "2026-01-01T00:01:30Z".parse().unwrap());
        assert_eq!(
            clock.until("2026-01-01T00:02:00Z".parse().unwrap()),
            Duration::from_secs(30)
        );
        assert_eq!(clock.until(start), Duration::ZERO);
    }
}
