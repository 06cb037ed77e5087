//! The layer of a client that notes what runs write.

use std::fmt;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use kube::client::Body;
use tower::{BoxError, Service};

use super::scope;

/// A client's service whose writes are noted, so that their events are known as echoes of them.
#[derive(Clone)]
pub struct WriteTracker<S> {
    inner: S,
}

impl<S> WriteTracker<S> {
    /// The service `inner`, observed.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S> Service<Request<Body>> for WriteTracker<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_write = matches!(
            *request.method(),
            Method::POST | Method::PUT | Method::PATCH | Method::DELETE
        );
        let what = is_write.then(|| (request.method().clone(), request.uri().path().to_owned()));
        let response = self.inner.call(request);
        // Polled by the caller's task, which knows the run.
        Box::pin(async move {
            let response = response.await.map_err(Into::into)?;
            let what = what.filter(|_| scope::is_in_run() && response.status().is_success());
            let Some((method, path)) = what else {
                return Ok(response);
            };
            let (parts, body) = response.into_parts();
            let bytes = body.collect_bytes().await?;
            scope::note(format!("{method} {path}"), &bytes);
            Ok(Response::from_parts(parts, Body::from(bytes)))
        })
    }
}

impl<S> fmt::Debug for WriteTracker<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTracker").finish_non_exhaustive()
    }
}
