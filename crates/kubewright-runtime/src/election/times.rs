//! The durations of a leader election.

use std::time::Duration;

use crate::Error;

/// The maximum fraction by which the delay between two attempts is longer than the retry period:
/// `JitterFactor` of client-go (tools/leaderelection).
pub(super) const JITTER: f64 = 1.2;

/// The durations of a leader election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTimes {
    /// How long other candidates wait after the last renewal that they saw; whole seconds.
    pub lease: Duration,
    /// How long the leader continues without a renewal.
    pub renew_deadline: Duration,
    /// How often the leader renews the Lease, and candidates try to take it.
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
    /// Returns an error for times with which two processes could lead at once, or no process could
    /// renew in time.
    pub fn check(&self) -> Result<(), Error> {
        let why = if self.lease <= self.renew_deadline {
            "the lease must be longer than the renew deadline"
        } else if self.renew_deadline <= self.retry.mul_f64(JITTER) {
            "the renew deadline must be longer than 1.2 retry periods"
        } else if self.retry.is_zero() {
            "the retry period must be longer than zero"
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

    /// The timeout of a request.
    pub(super) fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2).max(Duration::from_secs(1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ElectionTimes;

    #[test]
    fn times_with_which_two_processes_could_lead_are_rejected() {
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
