use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower::{BoxError, Layer, Service};

use crate::metrics::Histogram;

/// As Kubernetes' own components have them.
const LIMITS: &[Duration] = &[
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(15),
    Duration::from_secs(30),
    Duration::from_secs(60),
];

/// What a client has asked and been answered; as a layer it counts. Cloning shares it.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    host: Arc<str>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// By method and code; `<error>` stands for no answer, as in client-go.
    answered: BTreeMap<(String, String), u64>,
    durations: BTreeMap<String, Histogram>,
}

impl RequestMetrics {
    /// Nothing yet, of a client for the API server at `host`.
    pub fn new(host: &str) -> Self {
        Self {
            host: host.into(),
            counts: Arc::default(),
        }
    }

    /// The API server's address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// How often each method was answered with each code.
    pub fn answered(&self) -> BTreeMap<(String, String), u64> {
        self.counts.lock().answered.clone()
    }

    /// How long the heads of the answers took, by method.
    pub fn durations(&self) -> BTreeMap<String, Histogram> {
        self.counts.lock().durations.clone()
    }

    fn note(&self, method: &str, code: String, time: Duration) {
        let mut counts = self.counts.lock();
        let answered = (method.to_owned(), code);
        *counts.answered.entry(answered).or_default() += 1;
        let durations = counts.durations.entry(method.to_owned());
        let histogram = durations.or_insert_with(|| Histogram::new(LIMITS));
        histogram.observe(time);
    }
}

impl<S> Layer<S> for RequestMetrics {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        Metered {
            metrics: self.clone(),
            inner,
        }
    }
}

/// A client's service whose requests are counted; made by [`RequestMetrics`].
pub struct Metered<S> {
    metrics: RequestMetrics,
    inner: S,
}

impl<S> Service<Request<Body>> for Metered<S>
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
        let (metrics, method) = (self.metrics.clone(), request.method().clone());
        let began = Instant::now();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await.map_err(Into::into);
            let code = match &answer {
                Ok(answer) => answer.status().as_str().to_owned(),
                Err(_) => "<error>".to_owned(),
            };
            metrics.note(method.as_str(), code, began.elapsed());
            answer
        })
    }
}

impl<S> fmt::Debug for Metered<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered")
            .field("metrics", &self.metrics)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::client::Body;
    use tower::{Layer as _, ServiceExt as _};

    use super::RequestMetrics;

    #[tokio::test]
    async fn requests_are_counted_by_method_and_code() {
        let metrics = RequestMetrics::new("10.0.0.1:443");
        for code in [200, 200, 404] {
            let service = tower::service_fn(move |_: Request<Body>| async move {
                let answer = Response::builder().status(code).body(Body::empty());
                Ok::<_, Infallible>(answer.unwrap())
            });
            let request = Request::get("/api").body(Body::empty()).unwrap();
            metrics.layer(service).oneshot(request).await.unwrap();
        }
        let counted: Vec<_> = metrics.answered().into_values().collect();
        assert_eq!(counted, [2, 1]);
        assert_eq!(metrics.durations()["GET"].count(), 3);
    }
}
