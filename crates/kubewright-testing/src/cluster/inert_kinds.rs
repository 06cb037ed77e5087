//! Detects written kinds that the embedded cluster only stores.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::WARNING;
use http::{HeaderMap, Request, Response};
use parking_lot::Mutex;
use tower::{Layer, Service};

/// The kinds that clients wrote through this layer and that no controller of the embedded cluster
/// acts on: the server stores them and returns a warning. A test that waits for the effect that
/// they have on a real cluster times out.
#[derive(Clone, Debug, Default)]
pub(super) struct InertKinds {
    kinds: Arc<Mutex<BTreeSet<String>>>,
}

impl InertKinds {
    fn record(&self, headers: &HeaderMap) {
        for warning in headers.get_all(WARNING) {
            if let Some(kind) = warning.to_str().ok().and_then(kind_in) {
                self.kinds.lock().insert(kind.to_owned());
            }
        }
    }
}

/// The kind in a warning of the server.
fn kind_in(warning: &str) -> Option<&str> {
    let (_, rest) = warning.split_once("kubewright: nothing acts on ")?;
    let (kind, _) = rest.split_once(" yet")?;
    Some(kind)
}

/// One sentence, or nothing if there are no such kinds.
impl fmt::Display for InertKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.kinds.lock();
        if kinds.is_empty() {
            return Ok(());
        }
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        let kinds = kinds.join(", ");
        write!(
            f,
            "nothing acts on {kinds} in the embedded cluster, which only stores it: run this test \
             on a real one"
        )
    }
}

impl<S> Layer<S> for InertKinds {
    type Service = WarningReader<S>;

    fn layer(&self, inner: S) -> WarningReader<S> {
        WarningReader {
            inner,
            inert_kinds: self.clone(),
        }
    }
}

/// Reads the warnings of responses.
#[derive(Clone, Debug)]
pub(super) struct WarningReader<S> {
    inner: S,
    inert_kinds: InertKinds,
}

impl<S, B, R> Service<Request<B>> for WarningReader<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inert_kinds = self.inert_kinds.clone();
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            inert_kinds.record(response.headers());
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use k8s_openapi::api::apps::v1::StatefulSet;
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use crate::Cluster;

    #[tokio::test(start_paused = true)]
    async fn timeout_names_the_written_kinds_without_a_controller() {
        let cluster = Cluster::embedded().start().await.unwrap();
        let wait = async |condition: &str| {
            let soon = Duration::from_secs(1);
            let wait = cluster
                .eventually_within(soon, condition, async |c| !c.list::<Pod>().await.is_empty());
            let failed = AssertUnwindSafe(wait).catch_unwind().await;
            *failed.unwrap_err().downcast::<String>().unwrap()
        };
        let message = wait("a pod from nowhere").await;
        assert!(!message.contains("nothing acts on"), "{message}");
        let set = json!({
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "a" },
            "spec": {
                "selector": { "matchLabels": { "a": "b" } }, "serviceName": "a",
                "template": {
                    "metadata": { "labels": { "a": "b" } },
                    "spec": { "containers": [{ "name": "c", "image": "i" }] },
                },
            },
        });
        let set: StatefulSet = serde_json::from_value(set).unwrap();
        cluster.create(set).await;
        let message = wait("the pod of the set").await;
        assert!(
            message.contains("; nothing acts on StatefulSet in the embedded cluster"),
            "{message}"
        );
        assert!(
            cluster
                .inert_kinds()
                .starts_with("nothing acts on StatefulSet")
        );
        cluster.close().await.unwrap();
    }
}
