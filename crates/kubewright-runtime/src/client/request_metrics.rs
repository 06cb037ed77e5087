//! Counts and durations of a client's requests.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower::BoxError;

use super::{Blocked, RequestFilter, ResponseBody};
use crate::prometheus::Histogram;

/// The buckets of `rest_client_request_duration_seconds` (k8s.io/component-base/metrics/prometheus/
/// restclient).
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

/// Counts and durations of a client's requests. It is filled as a [`RequestFilter`] of the client;
/// clones share the counts.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    host: Arc<str>,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// By method and code. The code `<error>` means that no response arrived, as in client-go.
    responses: BTreeMap<(String, String), u64>,
    durations: BTreeMap<String, Histogram>,
}

/// A request that waits for its response.
#[derive(Debug)]
pub struct StartedRequest {
    method: Method,
    start: Instant,
}

impl RequestMetrics {
    /// Empty counts of a client for the API server at `host`.
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

    /// The number of responses by method and code.
    pub fn responses(&self) -> BTreeMap<(String, String), u64> {
        self.counts.lock().responses.clone()
    }

    /// How long the heads of the responses took, by method.
    pub fn durations(&self) -> BTreeMap<String, Histogram> {
        self.counts.lock().durations.clone()
    }

    fn note(&self, method: &str, code: String, time: Duration) {
        let mut counts = self.counts.lock();
        let response = (method.to_owned(), code);
        *counts.responses.entry(response).or_default() += 1;
        counts
            .durations
            .entry(method.to_owned())
            .or_insert_with(|| Histogram::new(LIMITS))
            .observe(time);
    }
}

impl RequestFilter for RequestMetrics {
    type RequestState = StartedRequest;

    fn before(&self, request: &mut Request<Body>) -> Result<StartedRequest, Blocked> {
        Ok(StartedRequest {
            method: request.method().clone(),
            start: Instant::now(),
        })
    }

    fn after(&self, started: StartedRequest, response: &Result<Response<ResponseBody>, BoxError>) {
        let code = match response {
            Ok(response) => response.status().as_str().to_owned(),
            Err(_) => "<error>".to_owned(),
        };
        self.note(started.method.as_str(), code, started.start.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::client::Body;
    use tower::{Layer as _, ServiceExt as _};

    use super::RequestMetrics;
    use crate::client::{RequestFilterLayer, ResponseBody};

    #[tokio::test]
    async fn requests_are_counted_by_method_and_code() {
        let metrics = RequestMetrics::new("10.0.0.1:443");
        for code in [200, 200, 404] {
            let service = tower::service_fn(move |_: Request<Body>| async move {
                let body = ResponseBody::default();
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            });
            let request = Request::get("/api").body(Body::empty()).unwrap();
            let counted = RequestFilterLayer::new(metrics.clone()).layer(service);
            counted.oneshot(request).await.unwrap();
        }
        let counted: Vec<_> = metrics.responses().into_values().collect();
        assert_eq!(counted, [2, 1]);
        assert_eq!(metrics.durations()["GET"].count(), 3);
    }
}
