//! A layer that ends requests whose response takes too long.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response, Uri};
use kube::client::Body;
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep};
use tower::{BoxError, Layer, Service};

use crate::Error;
use crate::client::ResponseBody;

/// Fails a request with [`Error::TimedOut`] when the head of its response does not arrive in time.
///
/// The body is not limited: a watch stays open for minutes.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutLayer {
    timeout: Duration,
}

impl TimeoutLayer {
    /// The layer with this timeout.
    pub fn new(timeout: Duration) -> Self {
        Self { timeout }
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout {
            timeout: self.timeout,
            inner,
        }
    }
}

/// The service of a [`TimeoutLayer`].
#[derive(Clone, Debug)]
pub struct Timeout<S> {
    timeout: Duration,
    inner: S,
}

impl<S> Service<Request<Body>> for Timeout<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error = BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = TimeoutFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        TimeoutFuture {
            timeout: self.timeout,
            method: request.method().clone(),
            uri: request.uri().clone(),
            sleep: sleep(self.timeout),
            response: self.inner.call(request),
        }
    }
}

pin_project! {
    /// The response of a [`Timeout`].
    pub struct TimeoutFuture<R> {
        timeout: Duration,
        method: Method,
        uri: Uri,
        #[pin]
        sleep: Sleep,
        #[pin]
        response: R,
    }
}

impl<R> Future for TimeoutFuture<R>
where
    R: Future<Output = Result<Response<ResponseBody>, BoxError>>,
{
    type Output = Result<Response<ResponseBody>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(response) = this.response.poll(cx) {
            return Poll::Ready(response);
        }
        this.sleep.poll(cx).map(|()| {
            Err(Error::TimedOut {
                what: format!("{} {}", this.method, this.uri.path()),
                after: *this.timeout,
            }
            .into())
        })
    }
}

impl<R> fmt::Debug for TimeoutFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeoutFuture")
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
