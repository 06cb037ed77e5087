use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower::Service;

use super::ServerBody;
use super::respond::respond;
use crate::server::Server;
use crate::who::Credentials;

/// The server as a service for one caller, without a socket: what a Kubernetes client in the same
/// process is built on.
#[derive(Clone, Debug)]
pub struct InProcess {
    server: Server,
    credentials: Credentials,
}

impl InProcess {
    pub(crate) fn new(server: Server, credentials: Credentials) -> Self {
        Self {
            server,
            credentials,
        }
    }
}

impl<B> Service<Request<B>> for InProcess
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ServerBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self {
            server,
            credentials,
        } = self.clone();
        Box::pin(async move { Ok(respond(&server, &credentials, request).await) })
    }
}
