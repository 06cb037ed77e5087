//! Conflicts on every type of write of an operator.

use std::collections::BTreeMap;
use std::task::{Context as Task, Poll};

use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use kubewright::kube::api::{Api, PostParams};
use kubewright::kube::client::Body;
use kubewright::kube::{self, Client};
use kubewright::prelude::*;
use kubewright::{Event, RunOptions, Running, Verb};
use kubewright_testing::Cluster;
use parking_lot::Mutex;
use serde_json::json;

/// How often each write fails before it succeeds. Each failure in a row doubles the delay: more would
/// take minutes.
const CONFLICTS: u32 = 2;

/// The writes and their attempts.
type Attempts = Arc<Mutex<BTreeMap<String, u32>>>;

/// A client whose writes fail with a conflict at first.
#[derive(Clone)]
struct Conflicting {
    client: Client,
    attempts: Attempts,
}

impl Conflicting {
    /// Counts a write, and returns whether it fails with a conflict.
    fn is_conflict(&self, request: &Request<Body>) -> bool {
        if request.method() == Method::GET {
            return false;
        }
        let path = request.uri().path();
        let (_, in_namespace) = path.split_once("/namespaces/").unwrap_or_default();
        let (_, object) = in_namespace.split_once('/').unwrap_or_default();
        // The name of an event is generated.
        let object = if object.starts_with("events/") {
            "events/name"
        } else {
            object
        };
        let mut attempts = self.attempts.lock();
        let count = attempts
            .entry(format!("{} {object}", request.method()))
            .or_default();
        *count += 1;
        *count <= CONFLICTS
    }
}

impl tower::Service<Request<Body>> for Conflicting {
    type Response = Response<Body>;
    type Error = kube::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Task<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if self.is_conflict(&request) {
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "reason": "Conflict", "code": 409,
                "message": "the object has been modified; please apply your changes to the latest version",
            });
            let response = Response::builder()
                .status(StatusCode::CONFLICT)
                .header("content-type", "application/json")
                .body(Body::from(status.to_string().into_bytes()));
            return Box::pin(async { Ok(response.expect("a response")) });
        }
        let client = self.client.clone();
        Box::pin(async move { client.send(request).await })
    }
}

/// An object for which the controller writes in every way.
#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests.kubewright.dev", version = "v1", kind = "Scribe")]
#[kube(namespaced, status = "ScribeStatus")]
struct ScribeSpec {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct ScribeStatus {
    is_done: bool,
}

fn note(name: &str, text: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("text".to_owned(), text.to_owned())].into()),
        ..ConfigMap::default()
    }
}

async fn write(_: Arc<Scribe>, cx: Context<Scribe>) -> Result<Outcome> {
    cx.event(Event::normal("Written", "in every way"));
    cx.apply(&note("applied", "new")).await?;
    cx.create_or_patch(&note("created", ""), |map| {
        map.data = note("", "new").data;
        Ok(())
    })
    .await?;
    let maps = Api::<ConfigMap>::namespaced(
        cx.client().clone(),
        cx.key().namespace().unwrap_or_default(),
    );
    let mut replaced = maps.get("replaced").await?;
    if replaced.data != note("", "new").data {
        replaced.data = note("", "new").data;
        let options = PostParams::default();
        maps.replace("replaced", &options, &replaced).await?;
    }
    if let Some(doomed) = cx.get::<ConfigMap>("doomed")? {
        cx.delete(&doomed).await?;
    }
    cx.status(|status| status.is_done = true).await?;
    Ok(Outcome::done())
}

async fn clean_up(_: Arc<Scribe>, _: Context<Scribe>) -> Result<Outcome> {
    Ok(Outcome::done())
}

fn scribes() -> Operator {
    Operator::new("scribes").controller(
        Controller::new(write)
            .owns(kind::<ConfigMap>())
            .writes(kind::<ConfigMap>(), [Verb::Get, Verb::Update, Verb::Delete])
            .finalizer("tests.kubewright.dev/scribe", clean_up)
            .events(),
    )
}

/// Installs the manifests of the operator, and runs it with `client`.
async fn start(cluster: &Cluster, client: Client) -> Running {
    cluster.run(scribes).await;
    cluster.stop_operator().await;
    let options = RunOptions {
        clock: cluster.clock(),
        ..RunOptions::default()
    };
    let running = scribes().start(client, options).expect("it starts");
    running.ready().await;
    running
}

#[kubewright_testing::test]
async fn conflicts_on_every_type_of_write_are_retried(cluster: Cluster) {
    let attempts = Attempts::default();
    let conflicting = Conflicting {
        client: cluster.client(),
        attempts: Arc::clone(&attempts),
    };
    let client = Client::new(conflicting, cluster.namespace().to_owned());
    cluster.create(note("replaced", "old")).await;
    cluster.create(note("doomed", "old")).await;
    let running = start(&cluster, client).await;
    cluster.apply(Scribe::new("one", ScribeSpec {})).await;
    cluster
        .eventually("every write done", async |c| {
            let scribe = c.get::<Scribe>("one").await;
            scribe
                .and_then(|scribe| scribe.status)
                .is_some_and(|status| status.is_done)
        })
        .await;
    for name in ["applied", "created", "replaced"] {
        let map = cluster.get::<ConfigMap>(name).await;
        let text = map.and_then(|map| map.data?.remove("text"));
        assert_eq!(text.as_deref(), Some("new"), "{name}");
    }
    assert!(cluster.get::<ConfigMap>("doomed").await.is_none());
    let metrics = running.controllers()[0].metrics();
    assert_eq!(metrics.errors, metrics.conflicts, "{metrics:?}");
    assert!(metrics.conflicts >= 5 * u64::from(CONFLICTS), "{metrics:?}");

    // The finalizer is removed by the same path as it was added: count again from the start.
    let added = attempts.lock().remove("PATCH scribes/one");
    assert!(added.is_some_and(|count| count > CONFLICTS), "{added:?}");
    cluster.delete::<Scribe>("one").await;
    cluster
        .eventually("the scribe to be deleted", async |c| {
            c.get::<Scribe>("one").await.is_none()
        })
        .await;
    let attempts = attempts.lock().clone();
    for write in [
        "DELETE configmaps/doomed",
        "PATCH configmaps/applied",
        "PATCH scribes/one",
        "PATCH scribes/one/status",
        "POST configmaps",
        "PUT configmaps/replaced",
    ] {
        let count = attempts.get(write).copied().unwrap_or_default();
        assert!(count > CONFLICTS, "{write}: {count} in {attempts:?}");
    }
    // An event that fails is dropped.
    let events = attempts.keys().filter(|write| write.contains(" events"));
    assert!(events.count() > 0, "{attempts:?}");
    running.stop().await;
}
