//! Retries of operations that fail, such as with a conflict.

use std::time::Duration;

use tokio::time::sleep;

use super::ErrorReason;
use crate::Error;
use crate::random::Random;

/// How often an operation is tried, and how long to wait in between.
///
/// The default is for a race that the next attempt wins: five attempts, 10 ms apart, as
/// `DefaultRetry` of client-go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The number of attempts; at least one is made.
    pub max_attempts: u32,
    /// How long to wait after the first failure.
    pub delay: Duration,
    /// The factor by which each further delay grows.
    pub factor: f64,
    /// The largest random extension of a delay, as a fraction of it.
    pub jitter: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            delay: Duration::from_millis(10),
            factor: 1.0,
            jitter: 0.1,
        }
    }
}

impl RetryPolicy {
    /// For an object that other clients write often: four attempts, 10, 50 and 250 ms apart, as
    /// `DefaultBackoff` of client-go.
    pub const fn backoff() -> Self {
        Self {
            max_attempts: 4,
            delay: Duration::from_millis(10),
            factor: 5.0,
            jitter: 0.1,
        }
    }
}

/// An error that can be a conflict.
pub trait Conflict {
    /// Whether the object has changed since it was read, so that it makes sense to read it again
    /// and to retry.
    fn is_conflict(&self) -> bool;
}

impl Conflict for kube::Error {
    fn is_conflict(&self) -> bool {
        let Self::Api(status) = self else {
            return false;
        };
        // A proxy sends no reason.
        status.reason == "Conflict" || status.code == 409 && status.reason.is_empty()
    }
}

impl Conflict for Error {
    fn is_conflict(&self) -> bool {
        let status = self.status();
        status.is_some_and(|status| ErrorReason::of(status) == ErrorReason::Conflict)
    }
}

/// Calls `attempt` again while it fails with a conflict: `RetryOnConflict` of client-go. `attempt`
/// reads the object itself, so that each call sees its newest state. Returns the error of the last
/// attempt.
///
/// `reconcile` does not need it: after a conflict, the object is reconciled again soon, in its
/// newest state.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kube::api::{Api, PostParams};
/// use kubewright_runtime::client::{RetryPolicy, retry_on_conflict};
///
/// async fn count(counters: &Api<ConfigMap>) -> Result<ConfigMap, kube::Error> {
///     retry_on_conflict(RetryPolicy::default(), || async {
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
/// When dropped, the current attempt is dropped, and no other follows.
pub async fn retry_on_conflict<T, E, F, Fut>(policy: RetryPolicy, attempt: F) -> Result<T, E>
where
    E: Conflict,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    retry_if(policy, E::is_conflict, attempt).await
}

/// Calls `attempt` again while `is_retriable` returns true for its error: `OnError` of client-go.
/// Returns the error of the last attempt.
///
/// # Cancel safety
///
/// As [`retry_on_conflict`].
pub async fn retry_if<T, E, F, Fut>(
    policy: RetryPolicy,
    is_retriable: impl Fn(&E) -> bool,
    mut attempt: F,
) -> Result<T, E>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut random = Random::new(None);
    let mut delay = policy.delay;
    for _ in 1..policy.max_attempts {
        match attempt().await {
            Err(error) if is_retriable(&error) => {}
            result => return result,
        }
        sleep(scaled(delay, 1.0 + policy.jitter * random.fraction())).await;
        delay = scaled(delay, policy.factor);
    }
    attempt().await
}

/// The product, or the longest duration where it is too large.
fn scaled(delay: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(delay.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::core::Status;
    use tokio::time::Instant;

    use super::{Conflict as _, RetryPolicy, retry_on_conflict};

    fn error_response(code: u16, reason: &str) -> kube::Error {
        let status = Status::failure("no", reason).with_code(code);
        kube::Error::Api(status.boxed())
    }

    /// The number of attempts, their duration and whether the last succeeded, when the first
    /// `failing` attempts fail.
    async fn retried(policy: RetryPolicy, failing: u32, reason: &str) -> (u32, Duration, bool) {
        let (mut count, start) = (0, Instant::now());
        let result = retry_on_conflict(policy, || {
            count += 1;
            let result = if count > failing {
                Ok(())
            } else {
                Err(error_response(409, reason))
            };
            async { result }
        })
        .await;
        (count, start.elapsed(), result.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn conflict_is_retried_five_times_ten_milliseconds_apart() {
        let (count, time, is_ok) = retried(RetryPolicy::default(), 2, "Conflict").await;
        assert_eq!((count, is_ok), (3, true));
        assert!((20..=24).contains(&time.as_millis()), "{time:?}");
        let (count, time, is_ok) = retried(RetryPolicy::default(), 9, "Conflict").await;
        assert_eq!((count, is_ok), (5, false));
        assert!((40..=48).contains(&time.as_millis()), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn backoff_waits_five_times_longer_each_time() {
        let (count, time, is_ok) = retried(RetryPolicy::backoff(), 9, "Conflict").await;
        assert_eq!((count, is_ok), (4, false));
        assert!((310..=345).contains(&time.as_millis()), "{time:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn other_errors_are_not_retried() {
        let (count, time, is_ok) = retried(RetryPolicy::default(), 9, "AlreadyExists").await;
        assert_eq!((count, time, is_ok), (1, Duration::ZERO, false));
    }

    #[test]
    fn conflict_is_recognized_by_its_reason() {
        assert!(error_response(409, "").is_conflict());
        assert!(!error_response(409, "AlreadyExists").is_conflict());
        assert!(error_response(409, "Conflict").is_conflict());
    }
}
