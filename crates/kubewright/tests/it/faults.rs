//! What an operator must survive, on a cluster: each test names the fault.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context as Task, Poll};

use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use kubewright::kube::Client;
use kubewright::kube::client::Body;
use kubewright::prelude::*;
use kubewright::{RunOptions, Running};
use kubewright_testing::Cluster;
use serde_json::json;

use crate::shown::{finalizer, two_kinds};

/// A client whose patches are all answered with a conflict while it is told to.
#[derive(Clone)]
struct Conflicting {
    client: Client,
    on: Arc<AtomicBool>,
    refused: Arc<AtomicU32>,
}

impl tower::Service<Request<Body>> for Conflicting {
    type Response = Response<Body>;
    type Error = kubewright::kube::Error;
    type Future = BoxFuture<'static, Result<Response<Body>, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Task<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if request.method() == Method::PATCH && self.on.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "reason": "Conflict", "code": 409,
                "message": "the object has been modified; please apply your changes to the latest version",
            });
            let answer = Response::builder()
                .status(StatusCode::CONFLICT)
                .header("content-type", "application/json")
                .body(Body::from(status.to_string().into_bytes()));
            return Box::pin(async { Ok(answer.expect("a response")) });
        }
        let client = self.client.clone();
        Box::pin(async move { client.send(request).await })
    }
}

/// Installs what the operator needs, and runs it with `client`.
async fn start(cluster: &Cluster, operator: fn() -> Operator, client: Client) -> Running {
    cluster.run(operator).await;
    cluster.stop_operator().await;
    let options = RunOptions {
        clock: cluster.clock(),
        ..RunOptions::default()
    };
    let running = operator().start(client, options).expect("it starts");
    running.ready().await;
    running
}

#[kubewright_testing::test]
async fn conflicts_on_every_write_are_retried_until_they_end(cluster: Cluster) {
    let on = Arc::new(AtomicBool::new(true));
    let refused = Arc::new(AtomicU32::new(0));
    let conflicting = Conflicting {
        client: cluster.client(),
        on: Arc::clone(&on),
        refused: Arc::clone(&refused),
    };
    let client = Client::new(conflicting, cluster.namespace().to_owned());
    let running = start(&cluster, two_kinds::operator, client).await;
    let fleet = two_kinds::Fleet::new("blue", two_kinds::FleetSpec { ships: 2 });
    cluster.apply(fleet).await;
    cluster
        .eventually("some conflicts", async |_| {
            refused.load(Ordering::SeqCst) >= 5
        })
        .await;
    let metrics = running.controllers()[0].metrics();
    assert!(metrics.conflicts >= 4, "{metrics:?}");
    assert_eq!(metrics.errors, metrics.conflicts);
    on.store(false, Ordering::SeqCst);
    cluster
        .eventually("two ships and their logs", async |c| {
            let logs = c.list::<ConfigMap>().await;
            logs.iter()
                .filter(|log| log.name_any().starts_with("blue-"))
                .count()
                == 2
        })
        .await;
    running.stop().await;
}

/// Two controllers of one kind, each with a field of its own in one shared object.
fn rivals() -> Operator {
    let share = |field: &'static str| {
        move |map: Arc<ConfigMap>, cx: Context<ConfigMap>| async move {
            if map.name_any() != "plan" {
                return Ok(Outcome::done());
            }
            let shared = ConfigMap {
                metadata: ObjectMeta {
                    name: Some("shared".to_owned()),
                    ..ObjectMeta::default()
                },
                data: Some([(field.to_owned(), "kept".to_owned())].into()),
                ..ConfigMap::default()
            };
            cx.apply(&shared).unowned().await?;
            Ok(Outcome::done())
        }
    };
    let writes = [Verb::Create, Verb::Patch];
    Operator::new("rivals")
        .controller(
            Controller::new(share("left"))
                .named("left")
                .watches(kind::<ConfigMap>(), enqueue::all())
                .writes(kind::<ConfigMap>(), writes),
        )
        .controller(
            Controller::new(share("right"))
                .named("right")
                .watches(kind::<ConfigMap>(), enqueue::all())
                .writes(kind::<ConfigMap>(), writes),
        )
}

#[kubewright_testing::test]
async fn two_controllers_of_one_kind_do_not_fight(cluster: Cluster) {
    cluster.run(rivals).await;
    let plan = ConfigMap {
        metadata: ObjectMeta {
            name: Some("plan".to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    cluster.apply(plan).await;
    let shared = async |cluster: &Cluster| {
        let shared = cluster.get::<ConfigMap>("shared").await;
        let data = shared.as_ref().and_then(|map| map.data.clone());
        let version = shared.and_then(|map| map.metadata.resource_version);
        (data.unwrap_or_default().len(), version)
    };
    cluster
        .eventually("both fields", async |c| shared(c).await.0 == 2)
        .await;
    let settled = shared(&cluster).await;
    cluster
        .consistently(
            Duration::from_secs(3),
            "nobody writes any more",
            async |c| shared(c).await == settled,
        )
        .await;
}

#[kubewright_testing::test]
async fn a_deletion_while_the_operator_is_away_is_cleaned_up_when_it_is_back(cluster: Cluster) {
    cluster.run(finalizer::operator).await;
    let spec = finalizer::NoticeSpec {
        text: "closed on Sunday".to_owned(),
    };
    cluster.apply(finalizer::Notice::new("hours", spec)).await;
    let key = ObjectKey::namespaced(cluster.namespace(), "hours");
    let shown = finalizer::name_on_board(&key);
    let board = cluster.in_namespace("default");
    board
        .eventually("the notice on the board", async |c| {
            c.get::<ConfigMap>(&shown).await.is_some()
        })
        .await;
    cluster.stop_operator().await;
    cluster.delete::<finalizer::Notice>("hours").await;
    assert!(cluster.get::<finalizer::Notice>("hours").await.is_some());
    cluster.run(finalizer::operator).await;
    cluster
        .eventually("both to go", async |c| {
            let notice = c.get::<finalizer::Notice>("hours").await;
            notice.is_none() && board.get::<ConfigMap>(&shown).await.is_none()
        })
        .await;
}
