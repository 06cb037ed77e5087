use std::time::Duration;

use tokio::time::sleep;

use super::ErrorReason;
use crate::Error;
use crate::controller::Failure;
use crate::random::Random;
use crate::write::WriteError;

/// How often something is tried, and how long to wait in between.
///
/// The default is for a race that the next try wins: five tries, 10 ms apart, as `DefaultRetry` of
/// client-go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tries {
    /// How often at most; one try is always made.
    pub most: u32,
    /// How long after the first that fails.
    pub wait: Duration,
    /// How many times longer each further wait is.
    pub factor: f64,
    /// By what part of itself a wait is longer at most, by chance.
    pub jitter: f64,
}

impl Default for Tries {
    fn default() -> Self {
        Self {
            most: 5,
            wait: Duration::from_millis(10),
            factor: 1.0,
            jitter: 0.1,
        }
    }
}

impl Tries {
    /// For an object that others write all the time: four tries, 10, 50 and 250 ms apart, as
    /// `DefaultBackoff` of client-go.
    pub const fn patient() -> Self {
        Self {
            most: 4,
            wait: Duration::from_millis(10),
            factor: 5.0,
            jitter: 0.1,
        }
    }
}

/// An error that can say that somebody else was first.
pub trait Conflict {
    /// Whether the object has changed since it was read, so that reading it again and trying again
    /// makes sense.
    fn is_conflict(&self) -> bool;
}

impl Conflict for kube::Error {
    fn is_conflict(&self) -> bool {
        let Self::Api(status) = self else {
            return false;
        };
        // A proxy gives no reason.
        status.reason == "Conflict" || status.code == 409 && status.reason.is_empty()
    }
}

impl Conflict for WriteError {
    fn is_conflict(&self) -> bool {
        WriteError::is_conflict(self)
    }
}

impl Conflict for Error {
    fn is_conflict(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| ErrorReason::of(status) == ErrorReason::Conflict)
    }
}

impl Conflict for Failure {
    fn is_conflict(&self) -> bool {
        let cause = self.cause();
        let write = cause.downcast_ref::<WriteError>();
        let kube = cause.downcast_ref::<kube::Error>();
        write.is_some_and(Conflict::is_conflict) || kube.is_some_and(Conflict::is_conflict)
    }
}

/// Tries again when somebody else was first, with what `attempt` then reads: `RetryOnConflict` of
/// client-go. After the last try its error is given back.
///
/// Inside `reconcile` there is no need for it: a conflict brings the object back soon, with all
/// that has changed.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::{Api, PostParams};
/// use kubewright_runtime::client::{Tries, retry_on_conflict};
///
/// async fn count(counters: &Api<ConfigMap>) -> Result<ConfigMap, kube::Error> {
///     retry_on_conflict(Tries::default(), || async {
///         let mut counter = counters.get("visits").await?;
///         let data = counter.data.get_or_insert_default();
///         let visits = data.get("count").and_then(|text| text.parse().ok()).unwrap_or(0_u64);
///         data.insert("count".to_owned(), (visits + 1).to_string());
///         counters.replace("visits", &PostParams::default(), &counter).await
///     })
///     .await
/// }
/// ```
///
/// # Cancel safety
///
/// Dropped, the try that is under way is given up as `attempt` says, and none follows.
pub async fn retry_on_conflict<T, E, F, Fut>(tries: Tries, attempt: F) -> Result<T, E>
where
    E: Conflict,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    retry_if(tries, E::is_conflict, attempt).await
}

/// Tries again when `is_worth_it` says so of the error: `OnError` of client-go. After the last try
/// its error is given back.
///
/// # Cancel safety
///
/// As [`retry_on_conflict`].
pub async fn retry_if<T, E, F, Fut>(
    tries: Tries,
    is_worth_it: impl Fn(&E) -> bool,
    mut attempt: F,
) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut random = Random::new(None);
    let mut wait = tries.wait;
    for _ in 1..tries.most {
        match attempt().await {
            Err(error) if is_worth_it(&error) => {}
            ended => return ended,
        }
        sleep(times(wait, 1.0 + tries.jitter * random.fraction())).await;
        wait = times(wait, tries.factor);
    }
    attempt().await
}

/// The same many times over; what no duration can express is the longest.
fn times(wait: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(wait.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::core::Status;
    use tokio::time::Instant;

    use super::{Conflict as _, Tries, retry_on_conflict};
    use crate::controller::Failure;

    fn refusal(code: u16, reason: &str) -> kube::Error {
        let status = Status::failure("no", reason).with_code(code);
        kube::Error::Api(status.boxed())
    }

    /// How often it was tried, for how long, and how it ended, when the first so many tries fail.
    async fn tried(tries: Tries, failing: u32, reason: &str) -> (u32, Duration, bool) {
        let (mut count, start) = (0, Instant::now());
        let ended = retry_on_conflict(tries, || {
            count += 1;
            let answer = match count > failing {
                true => Ok(()),
                false => Err(refusal(409, reason)),
            };
            async { answer }
        })
        .await;
        (count, start.elapsed(), ended.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn a_conflict_is_tried_five_times_ten_milliseconds_apart() {
        let (count, time, is_done) = tried(Tries::default(), 2, "Conflict").await;
        assert_eq!((count, is_done), (3, true));
        assert!((20..=24).contains(&time.as_millis()), "{time:?}");
        let (count, time, is_done) = tried(Tries::default(), 9, "Conflict").await;
        assert_eq!((count, is_done), (5, false));
        assert!((40..=48).contains(&time.as_millis()), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_patient_one_waits_five_times_longer_each_time() {
        let (count, time, is_done) = tried(Tries::patient(), 9, "Conflict").await;
        assert_eq!((count, is_done), (4, false));
        assert!((310..=345).contains(&time.as_millis()), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn other_errors_are_not_tried_again() {
        let (count, time, is_done) = tried(Tries::default(), 9, "AlreadyExists").await;
        assert_eq!((count, time, is_done), (1, Duration::ZERO, false));
    }

    #[test]
    fn a_conflict_is_known_by_its_reason_also_inside_a_failure() {
        assert!(refusal(409, "").is_conflict());
        assert!(!refusal(409, "AlreadyExists").is_conflict());
        assert!(Failure::from(refusal(409, "Conflict")).is_conflict());
        assert!(!Failure::from("something else").is_conflict());
    }
}
