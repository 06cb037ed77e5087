use std::fmt;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use tower::{BoxError, Layer, Service};

use super::Leadership;
use crate::Error;
use crate::client::{ClientService, Unsent, rebuilt};

/// Keeps a client from writing while this process does not lead; reads pass.
///
/// It looks when a request is sent. One that is under way when the term ends has until the end of
/// the Lease to arrive, which is later by what the Lease is longer than the renew deadline.
#[derive(Clone, Debug)]
pub struct Fence {
    leadership: Leadership,
}

impl Fence {
    /// For those who write as the leader.
    pub fn new(leadership: Leadership) -> Self {
        Self { leadership }
    }

    /// The same client behind the fence.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as kube's client does.
    pub fn guard(&self, client: Client) -> Client {
        rebuilt(&client, self.layer(ClientService::new(client.clone())))
    }

    fn check(&self, request: &Request<Body>) -> Result<(), Error> {
        let is_read = matches!(
            *request.method(),
            Method::GET | Method::HEAD | Method::OPTIONS
        );
        if is_read || self.leadership.is_leading() {
            return Ok(());
        }
        Err(Error::NotLeading {
            what: format!("{} {}", request.method(), request.uri().path()),
            holder: self
                .leadership
                .holder()
                .unwrap_or_else(|| "nobody".to_owned()),
        })
    }
}

impl<S> Layer<S> for Fence {
    type Service = Fenced<S>;

    fn layer(&self, inner: S) -> Fenced<S> {
        Fenced {
            fence: self.clone(),
            inner,
        }
    }
}

/// A client's service behind a [`Fence`].
pub struct Fenced<S> {
    fence: Fence,
    inner: S,
}

impl<S> Service<Request<Body>> for Fenced<S>
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
        if let Err(error) = self.fence.check(&request) {
            return Box::pin(async { Err(Unsent::new(error).into()) });
        }
        let answer = self.inner.call(request);
        Box::pin(async { answer.await.map_err(Into::into) })
    }
}

impl<S> fmt::Debug for Fenced<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fenced")
            .field("fence", &self.fence)
            .finish_non_exhaustive()
    }
}
