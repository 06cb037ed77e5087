use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response};
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower::BoxError;

use super::{Blocked, Guard};
use crate::prometheus::Histogram;

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

/// What a client has asked and been answered; as a [`Guard`] it counts. Cloning shares it.
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
    pub fn responses(&self) -> BTreeMap<(String, String), u64> {
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

impl Guard for RequestMetrics {
    type Noted = (Method, Instant);

    fn before(&self, request: &mut Request<Body>) -> Result<Self::Noted, Blocked> {
        Ok((request.method().clone(), Instant::now()))
    }

    fn after(&self, (method, began): Self::Noted, answer: &Result<Response<Body>, BoxError>) {
        let code = match answer {
            Ok(answer) => answer.status().as_str().to_owned(),
            Err(_) => "<error>".to_owned(),
        };
        self.note(method.as_str(), code, began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::{Request, Response};
    use kube::client::Body;
    use tower::ServiceExt as _;

    use super::RequestMetrics;
    use crate::client::Guarded;

    #[tokio::test]
    async fn requests_are_counted_by_method_and_code() {
        let metrics = RequestMetrics::new("10.0.0.1:443");
        for code in [200, 200, 404] {
            let service = tower::service_fn(move |_: Request<Body>| async move {
                let answer = Response::builder().status(code).body(Body::empty());
                Ok::<_, Infallible>(answer.unwrap())
            });
            let request = Request::get("/api").body(Body::empty()).unwrap();
            let counted = Guarded::new(metrics.clone(), service);
            counted.oneshot(request).await.unwrap();
        }
        let counted: Vec<_> = metrics.responses().into_values().collect();
        assert_eq!(counted, [2, 1]);
        assert_eq!(metrics.durations()["GET"].count(), 3);
    }
}
