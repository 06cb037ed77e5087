use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower::{BoxError, Service};

/// A client as the service that a layer wraps.
#[derive(Clone)]
pub struct ClientService(Client);

impl ClientService {
    /// Sends through `client`.
    pub fn new(client: Client) -> Self {
        Self(client)
    }
}

impl Service<Request<Body>> for ClientService {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, kube::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), kube::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { client.send(request).await })
    }
}

impl std::fmt::Debug for ClientService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientService").finish_non_exhaustive()
    }
}

/// A client like `client` that sends through `service`, which is most often the same client with
/// a layer around it.
///
/// # Panics
///
/// Outside a tokio runtime, as kube's client does.
pub fn rebuilt<S>(client: &Client, service: S) -> Client
where
    S: Service<Request<Body>, Response = Response<Body>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    let namespace = client.default_namespace().to_owned();
    Client::new(service, namespace).with_valid_until(*client.valid_until())
}
