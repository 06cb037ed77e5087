use std::time::Duration;

/// How long a key waits after so many failures in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure; doubled by each further one.
    pub first: Duration,
    /// The longest.
    pub longest: Duration,
}

impl Default for Backoff {
    /// 5 ms to 1000 s, as controller-runtime has it.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(5),
            longest: Duration::from_secs(1000),
        }
    }
}

impl Backoff {
    /// The delay after `failures` earlier failures.
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
