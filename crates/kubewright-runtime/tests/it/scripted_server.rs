//! An API server with scripted responses, and the objects of the tests.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use http_body_util::combinators::UnsyncBoxBody;
use kube::Client;
use kube::client::Body;
use kubewright_core::{Kind, ObjectKey, Resource, Scope};
use kubewright_runtime::informer::{
    InformerOptions, InformerSpec, Informers, Notification, Subscription,
};
use kubewright_runtime::reflector::{ReflectorOptions, Streaming};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout};

/// An API server that sends queued responses in their order, whatever the requests, and records the
/// requests. A request without a queued response waits for one.
#[derive(Clone, Default)]
pub(crate) struct ScriptedServer {
    script: Arc<Mutex<Script>>,
    queued: Arc<Notify>,
}

#[derive(Default)]
struct Script {
    responses: VecDeque<ScriptedResponse>,
    requests: Vec<(Instant, String)>,
    accepted: Vec<String>,
}

struct ScriptedResponse {
    code: u16,
    media_type: &'static str,
    body: mpsc::Receiver<io::Result<Bytes>>,
}

/// A timeout above every delay in the tests, on the virtual clock.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_hours(24);

/// A chunk that makes its reader panic.
pub(crate) const FATAL: &str = "panic";

/// The sender of the chunks of a body; dropping it ends the body.
pub(crate) type Chunks = mpsc::Sender<io::Result<Bytes>>;

impl ScriptedServer {
    pub(crate) fn client(&self) -> Client {
        Client::new(self.clone(), "default")
    }

    /// Informers that list in pages.
    pub(crate) fn informers(&self) -> Informers {
        self.informers_with(ReflectorOptions {
            streaming: Streaming::off(),
            ..ReflectorOptions::default()
        })
    }

    pub(crate) fn informers_with(&self, reflector: ReflectorOptions) -> Informers {
        let reflector = ReflectorOptions {
            page_size: 2,
            seed: Some(7),
            ..reflector
        };
        let options = InformerOptions {
            reflector,
            ..InformerOptions::default()
        };
        Informers::new(self.client(), options)
    }

    /// Queues a response whose body follows later.
    pub(crate) fn open(&self, code: u16) -> Chunks {
        self.open_as(code, "application/json")
    }

    /// Queues a response with another media type than JSON, whose body follows later.
    pub(crate) fn open_as(&self, code: u16, media_type: &'static str) -> Chunks {
        let (chunks, body) = mpsc::channel(10_000);
        let response = ScriptedResponse {
            code,
            media_type,
            body,
        };
        self.script.lock().responses.push_back(response);
        self.queued.notify_waiters();
        chunks
    }

    /// Queues a complete response.
    pub(crate) fn respond(&self, code: u16, body: impl ToString) {
        send(&self.open(code), body);
    }

    pub(crate) fn list(&self, revision: u64, objects: &[Value]) {
        self.page(revision, objects, "");
    }

    pub(crate) fn page(&self, revision: u64, objects: &[Value], token: &str) {
        let metadata = json!({"resourceVersion": revision.to_string(), "continue": token});
        let list = json!({"kind": "PodList", "metadata": metadata, "items": objects});
        self.respond(200, list);
    }

    /// The paths and queries of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        let script = self.script.lock();
        script
            .requests
            .iter()
            .map(|(_, path)| path.clone())
            .collect()
    }

    /// The Accept headers of the requests.
    pub(crate) fn accepted(&self) -> Vec<String> {
        self.script.lock().accepted.clone()
    }

    /// The times of the requests.
    pub(crate) fn times(&self) -> Vec<Instant> {
        let script = self.script.lock();
        script.requests.iter().map(|(time, _)| *time).collect()
    }

    async fn handle(
        self,
        path: String,
        accept: String,
    ) -> Response<UnsyncBoxBody<Bytes, io::Error>> {
        {
            let mut script = self.script.lock();
            script.requests.push((Instant::now(), path));
            script.accepted.push(accept);
        }
        loop {
            let queued = self.queued.notified();
            let response = self.script.lock().responses.pop_front();
            let Some(response) = response else {
                queued.await;
                continue;
            };
            let chunks = stream::unfold(response.body, async |mut body| {
                Some((body.recv().await?, body))
            });
            let chunks = chunks.inspect(|chunk| {
                let fatal = chunk.as_ref().is_ok_and(|chunk| chunk == FATAL);
                assert!(!fatal, "a bug in the client");
            });
            let body = StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data)));
            return Response::builder()
                .status(response.code)
                .header(http::header::CONTENT_TYPE, response.media_type)
                .body(UnsyncBoxBody::new(body))
                .expect("a valid response");
        }
    }
}

impl tower::Service<Request<Body>> for ScriptedServer {
    type Response = Response<UnsyncBoxBody<Bytes, io::Error>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let server = self.clone();
        let path = request.uri().to_string();
        let accept = request
            .headers()
            .get(http::header::ACCEPT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        Box::pin(async move { Ok(server.handle(path, accept).await) })
    }
}

/// Returns the next notification of a subscription, which must arrive.
pub(crate) async fn next_notification(subscription: &mut Subscription) -> Notification {
    timeout(TEST_TIMEOUT, subscription.next())
        .await
        .expect("a notification arrives")
        .expect("the informer runs")
}

pub(crate) fn send(chunks: &Chunks, text: impl ToString) {
    let bytes = Bytes::from(text.to_string());
    chunks.try_send(Ok(bytes)).expect("room in the body");
}

/// An event of a watch.
pub(crate) fn frame(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

pub(crate) fn bookmark(revision: u64) -> String {
    let object = json!({"kind": "Pod", "metadata": {"resourceVersion": revision.to_string()}});
    frame("BOOKMARK", &object)
}

/// The bookmark at the end of the initial state of a streaming list.
pub(crate) fn end_of_state(revision: u64) -> String {
    let object = json!({"kind": "Pod", "metadata": {"resourceVersion": revision.to_string(),
        "annotations": {"k8s.io/initial-events-end": "true"}}});
    frame("BOOKMARK", &object)
}

/// The status that kube-apiserver sends in a watch when the revision has expired.
pub(crate) fn expired() -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 1 (9)", "reason": "Expired", "code": 410})
}

/// A Pod in the namespace `shop` with a uid that is derived from its name.
pub(crate) fn pod(name: &str, revision: u64) -> Value {
    pod_with_uid(name, &format!("uid-{name}"), revision)
}

pub(crate) fn pod_with_uid(name: &str, uid: &str, revision: u64) -> Value {
    json!({"metadata": {"name": name, "namespace": "shop", "uid": uid,
        "resourceVersion": revision.to_string()}, "spec": {"nodeName": "n1", "containers": []}})
}

/// A Pod that is nested deeper than the limit of the JSON reader.
pub(crate) fn deep(name: &str, revision: u64) -> Value {
    let mut object = pod(name, revision);
    object["spec"]["deep"] = (0..200).fold(json!({}), |inner, _| json!({"a": inner}));
    object
}

pub(crate) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("shop", name)
}

pub(crate) fn pods() -> InformerSpec {
    InformerSpec::all(Resource::new(
        Kind::new("", "v1", "Pod"),
        "pods",
        Scope::Namespaced,
    ))
}
