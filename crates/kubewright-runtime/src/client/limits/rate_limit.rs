//! A layer that delays requests beyond a rate.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tower::{BoxError, Layer, Service};

use crate::client::ResponseBody;
use crate::rate_limit::{RateLimit, TokenBucket};

/// Delays requests so that no more are sent than a [`RateLimit`] allows.
///
/// All services that the layer makes, and their clones, share the limit. tower's own rate limit
/// counts each service by itself and has no burst.
#[derive(Clone, Debug)]
pub struct RateLimitLayer {
    limit: RateLimit,
    bucket: Arc<Mutex<TokenBucket>>,
}

impl RateLimitLayer {
    /// The layer with this limit.
    pub fn new(limit: RateLimit) -> Self {
        Self {
            limit,
            bucket: Arc::default(),
        }
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimited<S>;

    fn layer(&self, inner: S) -> RateLimited<S> {
        RateLimited {
            limit: self.limit,
            bucket: Arc::clone(&self.bucket),
            inner,
        }
    }
}

/// The service of a [`RateLimitLayer`].
#[derive(Clone, Debug)]
pub struct RateLimited<S> {
    limit: RateLimit,
    bucket: Arc<Mutex<TokenBucket>>,
    inner: S,
}

impl<S> Service<Request<Body>> for RateLimited<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error = BoxError>,
    S: Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let wait = self.bucket.lock().reserve(self.limit, Instant::now());
        // A clone need not be ready; the service that was polled ready sends the request.
        let clone = self.inner.clone();
        let mut ready = mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            if !wait.is_zero() {
                sleep(wait).await;
            }
            ready.call(request).await
        })
    }
}
