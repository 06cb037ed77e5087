use std::error::Error;

/// A request that a layer of the client has stopped: the API server never saw it.
///
/// A layer that fails with this is told apart from a server that does not answer. It reads like
/// its cause.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Unsent(Box<dyn Error + Send + Sync>);

impl Unsent {
    /// Stopped for this reason.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    /// The reason; look for a certain error with `downcast_ref`.
    pub fn cause(&self) -> &(dyn Error + Send + Sync + 'static) {
        self.0.as_ref()
    }

    /// Whether `error`, or anything that led to it, is one.
    pub fn is_behind(error: &(dyn Error + 'static)) -> bool {
        std::iter::successors(Some(error), |&error| error.source()).any(|error| error.is::<Self>())
    }
}

/// A layer's own error is the cause; kube's wrapping of it would only repeat its text.
pub(crate) fn cause_of(error: kube::Error) -> Box<dyn Error + Send + Sync> {
    match error {
        kube::Error::Service(cause) => cause,
        other => Box::new(other),
    }
}
