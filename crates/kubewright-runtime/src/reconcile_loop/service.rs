//! The layer of a client that notes what runs write.

use std::fmt;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use kube::client::Body;
use tower::{BoxError, Layer, Service};

use super::scope;
use crate::client::ResponseBody;

/// The layer of a client that records the writes of reconciles, so that their events are recognized.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteTrackerLayer;

impl<S> Layer<S> for WriteTrackerLayer {
    type Service = WriteTracker<S>;

    fn layer(&self, inner: S) -> WriteTracker<S> {
        WriteTracker { inner }
    }
}

/// The service of a [`WriteTrackerLayer`].
#[derive(Clone)]
pub struct WriteTracker<S> {
    inner: S,
}

impl<S> Service<Request<Body>> for WriteTracker<S>
where
    S: Service<Request<Body>, Response = Response<ResponseBody>, Error: Into<BoxError>>,
    S::Future: Send + 'static,
{
    type Response = Response<ResponseBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<ResponseBody>, BoxError>>;

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
            let bytes = body.collect().await?.to_bytes();
            scope::note(format!("{method} {path}"), &bytes);
            let body = Full::new(bytes).map_err(|never| match never {});
            Ok(Response::from_parts(parts, body.boxed_unsync()))
        })
    }
}

impl<S> fmt::Debug for WriteTracker<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTracker").finish_non_exhaustive()
    }
}
