use std::collections::VecDeque;
use std::sync::Arc;

use http::{Request, Response};
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::client::Body;
use kubewright_core::{Kind, ObjectKey, Resource, Scope};
use kubewright_runtime::store::{Filter, Store};
use kubewright_runtime::write::{Target, WriteError, WriteResult, Writer};
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An API server with these answers, in this order; what it was asked, and the cache.
struct World {
    writer: Writer,
    resource: Resource,
    store: Store,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl World {
    fn answering(answers: impl IntoIterator<Item = (u16, Value)>) -> Self {
        let asked = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let answers: VecDeque<(u16, Value)> = answers.into_iter().collect();
        let (kept, answers) = (Arc::clone(&asked), Arc::new(Mutex::new(answers)));
        let service = tower::service_fn(move |request: Request<Body>| {
            let next = answers.lock().pop_front();
            let (code, answer) = next.expect("no more requests than answers");
            let kept = Arc::clone(&kept);
            async move {
                let line = format!("{} {}", request.method(), request.uri());
                let body = request.into_body().collect_bytes().await;
                let body = body.expect("a whole body");
                let body = serde_json::from_slice(&body).unwrap_or_default();
                kept.lock().push((line, body));
                let answer = Body::from(answer.to_string().into_bytes());
                let answer = Response::builder().status(code).body(answer);
                Ok::<_, std::convert::Infallible>(answer.expect("a response"))
            }
        });
        let store = Store::new(Filter::default());
        store.replace(Vec::new(), "1");
        Self {
            writer: Writer::new(Client::new(service, "default"), "us"),
            resource: Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced),
            store,
            asked,
        }
    }

    /// Gives the Pod one more label than it has, and a phase.
    async fn label(&self, phase: Option<&str>) -> Result<WriteResult, WriteError> {
        let target = Target {
            resource: &self.resource,
            store: Some(&self.store),
        };
        let object = serde_json::from_value::<Pod>(json!({
            "metadata": {"name": "a", "namespace": "web"},
            "spec": {"containers": []},
        }));
        let done = self
            .writer
            .create_or_patch(target, &object.expect("a Pod"), |pod| {
                let labels = pod.metadata.labels.get_or_insert_default();
                let name = format!("label-{}", labels.len());
                labels.insert(name, "yes".to_owned());
                if let Some(phase) = phase {
                    pod.status.get_or_insert_default().phase = Some(phase.to_owned());
                }
                Ok(())
            })
            .await;
        done.map(|(_, done)| done)
    }

    fn lines(&self) -> Vec<String> {
        self.asked.lock().iter().map(|one| one.0.clone()).collect()
    }

    fn body(&self, number: usize) -> Value {
        self.asked.lock()[number].1.clone()
    }
}

fn pod(revision: &str, labels: &Value) -> (u16, Value) {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "a", "namespace": "web", "uid": "1", "resourceVersion": revision,
            "labels": labels,
        },
        "spec": {"containers": []},
        "status": {"phase": "Pending", "hostIP": "10.0.0.1"},
    });
    (200, pod)
}

fn refusal(code: u16, reason: &str) -> (u16, Value) {
    let status = json!({
        "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": "no",
    });
    let read: Status = serde_json::from_value(status.clone()).expect("a Status");
    assert_eq!(read.code, code);
    (code, status)
}

const POD: &str = "/api/v1/namespaces/web/pods/a";
const PODS: &str = "/api/v1/namespaces/web/pods";

#[tokio::test(start_paused = true)]
async fn an_object_that_is_not_there_is_created() {
    let world = World::answering([
        refusal(404, "NotFound"),
        pod("7", &json!({"label-0": "yes"})),
    ]);
    let done = world.label(None).await.expect("done");
    assert_eq!(done, WriteResult::Created);
    assert_eq!(
        world.lines(),
        [format!("GET {POD}"), format!("POST {PODS}?fieldManager=us")]
    );
    assert_eq!(
        world.body(1)["metadata"]["labels"],
        json!({"label-0": "yes"})
    );
    assert_eq!(world.body(1)["kind"], "Pod");
    let cached = world.store.get(&ObjectKey::namespaced("web", "a"));
    assert_eq!(cached.expect("an own write").resource_version(), "7");
}

#[tokio::test(start_paused = true)]
async fn of_an_object_that_is_there_only_what_differs_is_written_to_what_was_read() {
    let labels = json!({"label-0": "yes"});
    let world = World::answering([pod("7", &labels), pod("8", &labels), pod("9", &labels)]);
    let done = world.label(Some("Running")).await.expect("done");
    assert_eq!(done, WriteResult::Patched);
    assert_eq!(
        world.lines(),
        [
            format!("GET {POD}"),
            format!("PATCH {POD}?fieldManager=us"),
            format!("PATCH {POD}/status?fieldManager=us"),
        ]
    );
    assert_eq!(
        world.body(1),
        json!({"metadata": {"resourceVersion": "7", "labels": {"label-1": "yes"}}})
    );
    assert_eq!(
        world.body(2),
        json!({"metadata": {"resourceVersion": "8"}, "status": {"phase": "Running"}})
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_so_already_is_left_alone() {
    let world = World::answering([pod("7", &json!({}))]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    let object = serde_json::from_value::<Pod>(pod("7", &json!({})).1);
    let mut object = object.expect("a Pod");
    let read = world.writer.create_or_patch(target, &object, |_| Ok(()));
    let error = read.await.expect_err("an object that was read is refused");
    assert!(error.to_string().contains("metadata.uid is set"), "{error}");
    object.metadata.uid = None;
    object.metadata.resource_version = None;
    let done = world.writer.create_or_patch(target, &object, |_| Ok(()));
    let (pod, done) = done.await.expect("done");
    assert_eq!(done, WriteResult::Unchanged);
    assert_eq!(pod.metadata.resource_version.as_deref(), Some("7"));
    assert_eq!(world.lines(), [format!("GET {POD}")]);
}

#[tokio::test(start_paused = true)]
async fn whoever_loses_a_race_looks_again() {
    let world = World::answering([
        refusal(404, "NotFound"),
        refusal(409, "AlreadyExists"),
        pod("7", &json!({})),
        refusal(409, "Conflict"),
        pod("8", &json!({"theirs": "yes"})),
        refusal(404, "NotFound"),
        refusal(404, "NotFound"),
        pod("9", &json!({"label-0": "yes"})),
    ]);
    assert_eq!(world.label(None).await.expect("done"), WriteResult::Created);
    let verbs: Vec<_> = world.lines();
    let verbs = verbs.iter().filter_map(|line| line.split(' ').next());
    let verbs: Vec<_> = verbs.collect();
    assert_eq!(
        verbs,
        ["GET", "POST", "GET", "PATCH", "GET", "PATCH", "GET", "POST"]
    );
    // Each try began with what was there then.
    let labels = |number: usize| world.body(number)["metadata"]["labels"].clone();
    assert_eq!(labels(3), json!({"label-0": "yes"}));
    assert_eq!(labels(5), json!({"label-1": "yes"}));
}

#[tokio::test(start_paused = true)]
async fn what_another_try_does_not_mend_is_not_tried_again() {
    let world = World::answering([refusal(404, "NotFound"), refusal(404, "NotFound")]);
    let error = world.label(None).await.expect_err("no such namespace");
    assert_eq!(error.status().expect("an answer").code, 404);
    let world = World::answering([refusal(403, "Forbidden")]);
    world.label(None).await.expect_err("not permitted");
}

#[tokio::test(start_paused = true)]
async fn a_function_may_fail_but_not_move_the_object() {
    let world = World::answering([pod("7", &json!({})), pod("7", &json!({}))]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    let object = Pod {
        metadata: serde_json::from_value(json!({"name": "a", "namespace": "web"}))
            .expect("metadata"),
        ..Pod::default()
    };
    let failing = world
        .writer
        .create_or_patch(target, &object, |_| Err("not today".into()));
    let error = failing.await.expect_err("a failing function");
    assert!(matches!(error, WriteError::Change { .. }), "{error}");
    let moving = world.writer.create_or_patch(target, &object, |pod| {
        pod.metadata.name = Some("b".to_owned());
        Ok(())
    });
    let error = moving.await.expect_err("a function that moves");
    assert!(error.to_string().contains("keep both"), "{error}");
    assert_eq!(world.lines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_gone_or_another_by_now_is_not_patched() {
    let world = World::answering([
        refusal(404, "NotFound"),
        pod("7", &json!({})),
        pod("7", &json!({})),
        pod("8", &json!({"label": "yes"})),
    ]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    let label = async |uid: &str| {
        let change = |pod: &mut Pod| {
            let labels = pod.metadata.labels.get_or_insert_default();
            labels.insert("label".to_owned(), "yes".to_owned());
            Ok(())
        };
        let done = world.writer.patch(target, &key, Some(uid), change).await;
        done.expect("an answer").map(|(_, done)| done)
    };
    assert_eq!(label("1").await, None);
    assert_eq!(label("2").await, None);
    assert_eq!(label("1").await, Some(WriteResult::Patched));
    assert_eq!(world.lines().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn once_the_object_is_written_only_its_status_is_tried_again() {
    let (before, after) = (json!({}), json!({"label-0": "yes"}));
    let mut moved = pod("9", &after);
    moved.1["status"]["hostIP"] = json!("10.0.0.2");
    let world = World::answering([
        pod("7", &before),
        pod("8", &after),
        refusal(409, "Conflict"),
        moved,
        pod("10", &after),
    ]);
    assert_eq!(
        world.label(Some("Running")).await.expect("done"),
        WriteResult::Patched
    );
    assert_eq!(
        world.lines(),
        [
            format!("GET {POD}"),
            format!("PATCH {POD}?fieldManager=us"),
            format!("PATCH {POD}/status?fieldManager=us"),
            format!("GET {POD}"),
            format!("PATCH {POD}/status?fieldManager=us"),
        ]
    );
    // What others have written into the status meanwhile stays.
    assert_eq!(
        world.body(4),
        json!({"metadata": {"resourceVersion": "9"}, "status": {"phase": "Running"}})
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_that_was_created_stays_so_when_its_status_is_tried_again() {
    let labels = json!({"label-0": "yes"});
    let world = World::answering([
        refusal(404, "NotFound"),
        pod("7", &labels),
        refusal(409, "Conflict"),
        pod("8", &labels),
        pod("9", &labels),
    ]);
    assert_eq!(
        world.label(Some("Running")).await.expect("done"),
        WriteResult::Created
    );
    assert_eq!(
        world.body(4),
        json!({"metadata": {"resourceVersion": "8"}, "status": {"phase": "Running"}})
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_deleted_before_its_status_is_written_is_made_anew() {
    let labels = json!({"label-0": "yes"});
    let world = World::answering([
        pod("7", &json!({})),
        pod("8", &labels),
        refusal(404, "NotFound"),
        refusal(404, "NotFound"),
        refusal(404, "NotFound"),
        pod("9", &labels),
        pod("10", &labels),
    ]);
    assert_eq!(
        world.label(Some("Running")).await.expect("done"),
        WriteResult::Created
    );
    assert_eq!(world.body(5)["metadata"]["labels"], labels);
}

#[tokio::test(start_paused = true)]
async fn a_status_of_a_kind_that_has_none_is_an_error_and_nothing_is_written_twice() {
    let labels = json!({"label-0": "yes"});
    let world = World::answering([
        pod("7", &json!({})),
        pod("8", &labels),
        refusal(404, "NotFound"),
        pod("8", &labels),
    ]);
    let error = world.label(Some("Running")).await.expect_err("no status");
    let said = error.to_string();
    assert!(said.contains("patch pods/status web/a"), "{said}");
    assert!(said.contains("no status subresource"), "{said}");
    assert_eq!(world.lines().len(), 4);
}

/// A Pod of which little is known.
#[derive(Clone, Deserialize, Serialize)]
struct Few {
    metadata: FewMetadata,
    spec: FewSpec,
}

#[derive(Clone, Deserialize, Serialize)]
struct FewMetadata {
    name: String,
    namespace: String,
    #[serde(default)]
    finalizers: Vec<String>,
}

#[derive(Clone, Deserialize, Serialize)]
struct FewSpec {
    containers: Vec<FewContainer>,
}

#[derive(Clone, Deserialize, Serialize)]
struct FewContainer {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
}

#[tokio::test(start_paused = true)]
async fn what_the_type_does_not_know_is_locked_and_kept_also_in_lists() {
    let mut read = pod("7", &json!({}));
    read.1["spec"]["containers"] = json!([
        {"name": "web", "image": "web:1", "tty": true},
        {"name": "log", "image": "log:1", "stdin": true},
    ]);
    let world = World::answering([read, pod("8", &json!({}))]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    let change = |pod: &mut Few| {
        pod.spec.containers[0].image = Some("web:2".to_owned());
        Ok(())
    };
    let done = world.writer.patch(target, &key, Some("1"), change).await;
    let done = done.expect("an answer").map(|(_, done)| done);
    assert_eq!(done, Some(WriteResult::Patched));
    assert_eq!(
        world.body(1),
        json!({
            "metadata": {"resourceVersion": "7"},
            "spec": {"containers": [
                {"name": "web", "image": "web:2", "tty": true},
                {"name": "log", "image": "log:1", "stdin": true},
            ]},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_last_finalizer_is_taken_away_is_not_in_the_cache_any_more() {
    let deleted = |revision: &str, finalizers: Value| {
        let (code, mut pod) = pod(revision, &json!({}));
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        pod["metadata"]["finalizers"] = finalizers;
        (code, pod)
    };
    let world = World::answering([deleted("7", json!(["ours/one"])), deleted("8", json!([]))]);
    let target = Target {
        resource: &world.resource,
        store: Some(&world.store),
    };
    let key = ObjectKey::namespaced("web", "a");
    let change = |pod: &mut Few| {
        pod.metadata.finalizers.clear();
        Ok(())
    };
    let done = world.writer.patch(target, &key, Some("1"), change).await;
    done.expect("an answer").expect("the object");
    assert_eq!(world.store.get(&key), None);
}

#[tokio::test(start_paused = true)]
async fn a_name_that_would_lead_elsewhere_is_not_asked_for() {
    let world = World::answering([]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    for name in ["", "..", "a/status", "a?watch=1"] {
        let key = ObjectKey::namespaced("web", name);
        let patch = world.writer.patch(target, &key, None, |_: &mut Pod| Ok(()));
        let error = patch.await.map(drop).expect_err("a refusal");
        assert!(matches!(error, WriteError::Invalid { .. }), "{error}");
        let error = world.writer.delete(target, &key, "1").await;
        let error = error.expect_err("a refusal");
        assert!(matches!(error, WriteError::Invalid { .. }), "{error}");
    }
    assert!(world.lines().is_empty());
}
