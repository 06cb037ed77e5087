use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::WARNING;
use http::{HeaderMap, Request, Response};
use parking_lot::Mutex;
use tower::{Layer, Service};

/// The kinds that were written through this layer and that nothing in the embedded cluster acts
/// on: it stores them, and says so with a warning. A test that waits for what they would bring
/// about on a real cluster waits in vain.
#[derive(Clone, Debug, Default)]
pub(super) struct Unmoved {
    kinds: Arc<Mutex<BTreeSet<String>>>,
}

impl Unmoved {
    fn note(&self, headers: &HeaderMap) {
        for warning in headers.get_all(WARNING) {
            if let Some(kind) = warning.to_str().ok().and_then(kind_in) {
                self.kinds.lock().insert(kind.to_owned());
            }
        }
    }
}

/// In the words of the server's own warning.
fn kind_in(warning: &str) -> Option<&str> {
    let (_, rest) = warning.split_once("kubewright: nothing acts on ")?;
    let (kind, _) = rest.split_once(" yet")?;
    Some(kind)
}

/// One sentence, or nothing.
impl fmt::Display for Unmoved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.kinds.lock();
        if kinds.is_empty() {
            return Ok(());
        }
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        let kinds = kinds.join(", ");
        write!(
            f,
            "nothing acts on {kinds} in the embedded cluster, which stores it only: run this on \
             a real one"
        )
    }
}

impl<S> Layer<S> for Unmoved {
    type Service = Noting<S>;

    fn layer(&self, inner: S) -> Noting<S> {
        Noting {
            inner,
            unmoved: self.clone(),
        }
    }
}

/// The service that reads warnings on their way back.
#[derive(Clone, Debug)]
pub(super) struct Noting<S> {
    inner: S,
    unmoved: Unmoved,
}

impl<S, B, R> Service<Request<B>> for Noting<S>
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
        let unmoved = self.unmoved.clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await?;
            unmoved.note(answer.headers());
            Ok(answer)
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
    async fn a_wait_for_what_nobody_does_names_it() {
        let cluster = Cluster::embedded().start().await.unwrap();
        let wait = async |what: &str| {
            let soon = Duration::from_secs(1);
            let wait =
                cluster.eventually_within(soon, what, async |c| !c.list::<Pod>().await.is_empty());
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
        assert!(cluster.unmoved().starts_with("nothing acts on StatefulSet"));
        cluster.close().await.unwrap();
    }
}
