//! The server as a tower service in this process.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower::Service;

use super::body_budget::BodyBudget;
use super::handle::handle;
use super::response_body::ServerBody;
use crate::authentication::Credentials;
use crate::request::Api;

/// The server as a service for one caller, without a socket. A Kubernetes client in the same
/// process is built on it.
#[derive(Clone, Debug)]
pub struct InProcess {
    api: Arc<Api>,
    bodies: BodyBudget,
    credentials: Credentials,
}

impl InProcess {
    pub(crate) fn new(api: Arc<Api>, bodies: BodyBudget, credentials: Credentials) -> Self {
        Self {
            api,
            bodies,
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
            api,
            bodies,
            credentials,
        } = self.clone();
        Box::pin(async move { Ok(handle(&api, &bodies, &credentials, request).await) })
    }
}
