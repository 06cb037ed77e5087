//! The backoff of failing keys.

use std::time::Duration;

/// The exponential backoff of a key after consecutive failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// The delay after the first failure; each further failure doubles it.
    pub first: Duration,
    /// The maximum delay.
    pub longest: Duration,
}

impl Default for Backoff {
    /// 5 ms to 1000 s, as in controller-runtime.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(5),
            longest: Duration::from_secs(1000),
        }
    }
}

impl Backoff {
    /// The delay after a failure that `failures` others preceded.
    pub fn delay(&self, failures: u32) -> Duration {
        let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::Backoff;

    #[test]
    fn delay_doubles_from_5ms_and_stops_at_1000s() {
        let backoff = Backoff::default();
        let delays = [0, 1, 17, 18, 99].map(|failures| backoff.delay(failures).as_millis());
        assert_eq!(delays, [5, 10, 655_360, 1_000_000, 1_000_000]);
    }
}
