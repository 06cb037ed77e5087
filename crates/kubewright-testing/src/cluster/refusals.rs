use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use parking_lot::Mutex;
use tower::{Layer, Service};

/// What a server refused as forbidden, for all clients that went through this layer.
///
/// An operator that was refused something has a role that lacks a rule, however well it went on.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusals {
    requests: Arc<Mutex<BTreeSet<String>>>,
}

impl Refusals {
    /// The refused requests so far, each once; they are forgotten.
    pub(super) fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.requests.lock())
    }
}

impl<S> Layer<S> for Refusals {
    type Service = Noting<S>;

    fn layer(&self, inner: S) -> Noting<S> {
        Noting {
            inner,
            refusals: self.clone(),
        }
    }
}

/// The service that notes refusals on their way back.
#[derive(Clone, Debug)]
pub(super) struct Noting<S> {
    inner: S,
    refusals: Refusals,
}

impl<S, B, R> Service<Request<B>> for Noting<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let asked = format!("{} {}", request.method(), request.uri().path());
        let refusals = self.refusals.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            if answer.status() == StatusCode::FORBIDDEN {
                refusals.requests.lock().insert(asked);
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use tower::{Layer as _, ServiceExt as _, service_fn};

    use super::Refusals;

    #[tokio::test]
    async fn only_forbidden_answers_are_noted_each_once() {
        let refusals = Refusals::default();
        let service = refusals.layer(service_fn(|request: Request<()>| async move {
            let code = match request.uri().path() {
                "/api/v1/nodes" => 403,
                "/api/v1/pods" => 404,
                _ => 200,
            };
            Ok::<_, Infallible>(Response::builder().status(code).body(()).unwrap())
        }));
        for path in ["/version", "/api/v1/nodes", "/api/v1/pods", "/api/v1/nodes"] {
            let request = Request::get(path).body(()).unwrap();
            service.clone().oneshot(request).await.unwrap();
        }
        let refused: Vec<_> = refusals.take().into_iter().collect();
        assert_eq!(refused, ["GET /api/v1/nodes"]);
        assert!(refusals.take().is_empty());
    }
}
