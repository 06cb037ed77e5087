use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use kubewright_wire::status::Status;
use serde_json::json;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower::BoxError;

/// How an open watch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The connection breaks.
    Cut,
    /// The API server says that the revision is too old, and ends it.
    Expired,
}

/// A watch that can be ended from outside.
#[derive(Clone, Debug)]
pub(super) struct OpenWatch {
    resource: String,
    ended: CancellationToken,
    ending: Arc<OnceLock<Ending>>,
    /// Held by the body too: once that is gone, so is the watch.
    alive: Arc<()>,
}

impl OpenWatch {
    pub(super) fn new(resource: String) -> Self {
        Self {
            resource,
            ended: CancellationToken::new(),
            ending: Arc::default(),
            alive: Arc::default(),
        }
    }

    pub(super) fn resource(&self) -> &str {
        &self.resource
    }

    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.alive) > 1 && !self.ended.is_cancelled()
    }

    pub(super) fn end(&self, ending: Ending) {
        self.ending.get_or_init(|| ending);
        self.ended.cancel();
    }
}

/// The body of a watch's answer, until it is ended.
pub(super) struct WatchBody {
    inner: UnsyncBoxBody<Bytes, BoxError>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    ending: Arc<OnceLock<Ending>>,
    _alive: Arc<()>,
    is_over: bool,
}

impl WatchBody {
    pub(super) fn new(inner: UnsyncBoxBody<Bytes, BoxError>, watch: &OpenWatch) -> Self {
        Self {
            inner,
            ended: Box::pin(watch.ended.clone().cancelled_owned()),
            ending: Arc::clone(&watch.ending),
            _alive: Arc::clone(&watch.alive),
            is_over: false,
        }
    }
}

impl Body for WatchBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if self.ended.as_mut().poll(cx).is_ready() {
            self.is_over = true;
            return Poll::Ready(Some(match self.ending.get() {
                Some(Ending::Expired) => Ok(Frame::data(expired())),
                Some(Ending::Cut) | None => Err("the connection was cut by a test".into()),
            }));
        }
        Pin::new(&mut self.inner).poll_frame(cx)
    }
}

/// The event that says that the revision is too old.
fn expired() -> Bytes {
    let status = Status::expired("too old resource version: injected by a test");
    let event = json!({"type": "ERROR", "object": status});
    Bytes::from(format!("{event}\n"))
}
