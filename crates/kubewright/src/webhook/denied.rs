//! The denial of an admission request.

use std::error::Error;
use std::fmt;

use kubewright_wire::status::{Reason, Status};

/// The reason why a webhook denies a request.
///
/// `?` converts any error: the request then fails with 500, because the webhook could not decide.
/// Use [`Denied::because`] for a decision.
pub struct Denied {
    status: Box<Status>,
}

impl Denied {
    /// Denies the request with 403 and a reason.
    pub fn because(why: impl Into<String>) -> Self {
        Self::from_status(Status::failure(403, Some(Reason::Forbidden), why))
    }

    pub(super) fn from_status(status: Status) -> Self {
        Self {
            status: Box::new(status),
        }
    }

    pub(super) fn into_status(self) -> Status {
        *self.status
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for Denied {
    fn from(error: E) -> Self {
        let error = error.into();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self::from_status(Status::internal(text))
    }
}

impl fmt::Debug for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Denied({} {})", self.status.code, self.status.message)
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status.fmt(f)
    }
}
