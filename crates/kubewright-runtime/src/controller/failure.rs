//! The error of a reconcile and when the object is tried again.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::client::Conflict;
use crate::write::WriteError;

/// The error of a reconcile, and when the object is tried again.
///
/// Anything that converts into a boxed error converts into a `Failure`, so `?` works on every
/// error and on text. It does not implement [`Error`] itself, which would forbid that conversion.
///
/// ```
/// use std::time::Duration;
/// use kubewright_runtime::controller::{Failure, Retry};
///
/// fn parse(text: &str) -> Result<u8, Failure> {
///     Ok(text.parse::<u8>()?)
/// }
/// assert_eq!(parse("x").unwrap_err().retry(), Retry::Backoff);
/// let later = Failure::from("no quota").retry_after(Duration::from_secs(60));
/// assert_eq!(later.retry(), Retry::After(Duration::from_secs(60)));
/// assert_eq!(Failure::terminal("spec.image is empty").retry(), Retry::OnChange);
/// ```
pub struct Failure {
    cause: Box<dyn Error + Send + Sync>,
    retry: Retry,
}

/// When a failed key is tried again, unless something changes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Retry {
    /// After a delay that doubles with each failure in a row.
    Backoff,
    /// After this delay.
    After(Duration),
    /// Only when something changes.
    OnChange,
}

impl Failure {
    /// A failure that a retry cannot repair: the key waits for a change.
    pub fn terminal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: cause.into(),
            retry: Retry::OnChange,
        }
    }

    /// Sets the exact delay of the retry.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry = Retry::After(delay);
        self
    }

    /// When the key is tried again.
    pub fn retry(&self) -> Retry {
        self.retry
    }

    /// The retry delay that the API server returned, if the cause is a response with one: mostly
    /// 429, when the server is overloaded. The key is not tried again before, unless something
    /// changes or [`retry_after`](Self::retry_after) was called.
    pub fn server_retry_after(&self) -> Option<Duration> {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self.cause.as_ref());
        while let Some(error) = cause {
            if let Some(seconds) = retry_after_seconds(error) {
                return Some(Duration::from_secs(seconds.into()));
            }
            cause = error.source();
        }
        None
    }

    /// The error; find a certain type with `downcast_ref`.
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.cause.as_ref()
    }
}

/// The `retryAfterSeconds` of the status in an error.
fn retry_after_seconds(error: &(dyn Error + 'static)) -> Option<u32> {
    if let Some(kube::Error::Api(status)) = error.downcast_ref::<kube::Error>() {
        let details = status.details.as_ref();
        return details.map(|details| details.retry_after_seconds);
    }
    let of_write = error
        .downcast_ref::<WriteError>()
        .and_then(WriteError::status);
    let of_read = error
        .downcast_ref::<crate::Error>()
        .and_then(crate::Error::status);
    let details = of_write.or(of_read)?.details.as_ref();
    details.map(|details| details.retry_after_seconds)
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Failure {
    fn from(cause: E) -> Self {
        Self {
            cause: cause.into(),
            retry: Retry::Backoff,
        }
    }
}

/// Writes the chain of causes in one line.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause)?;
        let mut cause = self.cause.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl Conflict for Failure {
    fn is_conflict(&self) -> bool {
        let write = self.cause.downcast_ref::<WriteError>();
        let kube = self.cause.downcast_ref::<kube::Error>();
        write.is_some_and(Conflict::is_conflict) || kube.is_some_and(Conflict::is_conflict)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("cause", &self.cause)
            .field("retry", &self.retry)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kube::core::Status as KubeStatus;
    use kubewright_wire::status::Status;

    use super::Failure;
    use crate::client::Conflict as _;
    use crate::write::WriteError;

    #[derive(Debug, thiserror::Error)]
    #[error("read the settings")]
    struct Outer(#[source] std::num::ParseIntError);

    #[test]
    fn text_contains_every_cause_once() {
        let cause = "x".parse::<u8>().unwrap_err();
        let failure = Failure::from(Outer(cause));
        assert_eq!(
            failure.to_string(),
            "read the settings: invalid digit found in string"
        );
        assert!(failure.cause().downcast_ref::<Outer>().is_some());
    }

    #[derive(Debug, thiserror::Error)]
    #[error("fill the bucket")]
    struct Filling(#[from] WriteError);

    #[test]
    fn retry_delay_of_the_server_is_found_inside_user_defined_errors() {
        let busy = WriteError::ErrorResponse {
            what: "create pods web/a".to_owned(),
            source: Box::new(Status::too_many_requests("later", 7)),
        };
        let failure = Failure::from(Filling(busy));
        assert_eq!(failure.server_retry_after(), Some(Duration::from_secs(7)));
        assert_eq!(Failure::from("no").server_retry_after(), None);
    }

    #[test]
    fn conflict_is_found_inside_a_failure() {
        let status = KubeStatus::failure("no", "Conflict").with_code(409);
        let conflict = kube::Error::Api(status.boxed());
        assert!(Failure::from(conflict).is_conflict());
        assert!(!Failure::from("something else").is_conflict());
    }
}
