use std::fmt;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use tower::{BoxError, Service};

use super::{Blocked, ClientService, rebuilt};

/// What all requests of a client go through: it may change or stop each before it is sent, and
/// sees how it was answered.
///
/// Typed, dynamic and raw calls all end in a request, so that none is left out.
pub trait Guard: Clone + Send + 'static {
    /// What is remembered of a request until it is answered.
    type Noted: Send + 'static;

    /// Looks at a request before it is sent. One that is stopped never reaches the API server.
    fn before(&self, request: &mut Request<Body>) -> Result<Self::Noted, Blocked>;

    /// Looks at the head of the answer, or at why there is none; not called for a request that was
    /// stopped.
    fn after(&self, _noted: Self::Noted, _answer: &Result<Response<Body>, BoxError>) {}
}

/// A client like `client` whose requests all go through `guard`.
///
/// # Panics
///
/// Outside a tokio runtime, as kube's client does.
pub fn guarded<G: Guard>(client: &Client, guard: G) -> Client {
    rebuilt(
        client,
        Guarded::new(guard, ClientService::new(client.clone())),
    )
}

/// A client's service whose requests go through a [`Guard`].
#[derive(Clone)]
pub struct Guarded<G, S> {
    guard: G,
    inner: S,
}

impl<G: Guard, S> Guarded<G, S> {
    /// The service `inner` behind `guard`.
    pub fn new(guard: G, inner: S) -> Self {
        Self { guard, inner }
    }
}

impl<G, S> Service<Request<Body>> for Guarded<G, S>
where
    G: Guard,
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Body>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let noted = match self.guard.before(&mut request) {
            Ok(noted) => noted,
            Err(unsent) => return Box::pin(async { Err(unsent.into()) }),
        };
        let guard = self.guard.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await.map_err(Into::into);
            guard.after(noted, &answer);
            answer
        })
    }
}

impl<G: fmt::Debug, S> fmt::Debug for Guarded<G, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("guard", &self.guard)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use http::{Method, Request, Response};
    use kube::Client;
    use kube::client::Body;
    use tower::BoxError;

    use super::{Guard, guarded};
    use crate::client::Blocked;

    /// Stops deletes, and counts answers by the number that it gave to the request.
    #[derive(Clone, Default)]
    struct Numbered {
        next: Arc<AtomicU32>,
        answered: Arc<AtomicU32>,
    }

    impl Guard for Numbered {
        type Noted = u32;

        fn before(&self, request: &mut Request<Body>) -> Result<u32, Blocked> {
            if request.method() == Method::DELETE {
                return Err(Blocked::new("nothing is deleted here"));
            }
            Ok(self.next.fetch_add(1, Ordering::SeqCst) + 1)
        }

        fn after(&self, noted: u32, answer: &Result<Response<Body>, BoxError>) {
            assert!(answer.is_ok());
            self.answered.fetch_add(noted, Ordering::SeqCst);
        }
    }

    #[tokio::test]
    async fn a_request_that_is_stopped_is_not_sent_and_not_answered() {
        let sent = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&sent);
        let service = tower::service_fn(move |_: Request<Body>| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok::<_, std::convert::Infallible>(Response::new(Body::empty())) }
        });
        let guard = Numbered::default();
        let client = guarded(&Client::new(service, "web"), guard.clone());
        assert_eq!(client.default_namespace(), "web");
        for method in [Method::GET, Method::DELETE, Method::PUT] {
            let request = Request::builder().method(&method).uri("/api/v1/pods");
            let answer = client.send(request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.is_ok(), method != Method::DELETE);
            let unsent = answer.err();
            assert!(unsent.is_none_or(|error| Blocked::is_cause_of(&error)));
        }
        assert_eq!(sent.load(Ordering::SeqCst), 2);
        assert_eq!(guard.answered.load(Ordering::SeqCst), 1 + 2);
    }
}
