//! The error of a layer that blocks a request.

use std::error::Error;

/// A request that a layer of the client has blocked: it never reached the API server.
///
/// A layer that fails with this error is distinguished from a server that does not respond. Its
/// message is that of its cause.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Blocked(Box<dyn Error + Send + Sync>);

impl Blocked {
    /// A request that was blocked for this reason.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    /// The reason. `downcast_ref` finds an error of a certain type.
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.as_ref()
    }

    /// Whether `error`, or any error in its chain of sources, is a `Blocked`.
    pub fn is_cause_of(error: &(dyn Error + 'static)) -> bool {
        std::iter::successors(Some(error), |&error| error.source()).any(|error| error.is::<Self>())
    }
}

/// The error that a layer or the transport returned. kube's wrapper around it would only repeat its
/// text.
pub(crate) fn unwrap_service_error(error: kube::Error) -> Box<dyn Error + Send + Sync> {
    match error {
        kube::Error::Service(cause) => cause,
        other => Box::new(other),
    }
}
