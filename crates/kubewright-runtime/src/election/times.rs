use std::time::Duration;

use crate::Error;

/// The most by which a wait between two tries is longer than the retry period, as client-go has it
/// (`JitterFactor` of tools/leaderelection).
pub(super) const JITTER: f64 = 1.2;

/// How long a Lease lasts, and how often it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTimes {
    /// How long others wait after the last renewal that they have seen; whole seconds.
    pub lease: Duration,
    /// How long the leader works without having renewed.
    pub renew_deadline: Duration,
    /// How often the leader renews, and candidates try.
    pub retry: Duration,
}

/// 15, 10 and 2 seconds.
impl Default for ElectionTimes {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry: Duration::from_secs(2),
        }
    }
}

impl ElectionTimes {
    /// Refuses times by which two could lead at once, or nobody could renew in time.
    pub fn check(&self) -> Result<(), Error> {
        let why = if self.lease <= self.renew_deadline {
            "the lease must be longer than the renew deadline"
        } else if self.renew_deadline <= self.retry.mul_f64(JITTER) {
            "the renew deadline must be longer than 1.2 retry periods"
        } else if self.retry.is_zero() {
            "the retry period must be longer than nothing"
        } else if self.lease.subsec_nanos() != 0 || i32::try_from(self.lease.as_secs()).is_err() {
            "the lease must be a whole number of seconds that a Lease can hold"
        } else {
            return Ok(());
        };
        Err(Error::InvalidElectionTimes {
            why,
            lease: self.lease,
            renew_deadline: self.renew_deadline,
            retry: self.retry,
        })
    }

    /// How long one request may take.
    pub(super) fn patience(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ElectionTimes;

    #[test]
    fn times_by_which_two_could_lead_are_refused() {
        let default = ElectionTimes::default();
        assert!(default.check().is_ok());
        let lease = default.renew_deadline;
        assert!(ElectionTimes { lease, ..default }.check().is_err());
        let retry = Duration::from_secs(9);
        assert!(ElectionTimes { retry, ..default }.check().is_err());
        let retry = Duration::ZERO;
        assert!(ElectionTimes { retry, ..default }.check().is_err());
        let lease = Duration::from_millis(15_500);
        assert!(ElectionTimes { lease, ..default }.check().is_err());
    }
}
