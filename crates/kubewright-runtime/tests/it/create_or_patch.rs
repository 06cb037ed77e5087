//! Tests of writes that depend on the current state of an object.

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

/// A writer whose API server has scripted responses, the requests to it, and the cache.
struct World {
    writer: Writer,
    resource: Resource,
    store: Store,
    requests: Arc<Mutex<Vec<(String, Value)>>>,
}

impl World {
    fn responding(responses: impl IntoIterator<Item = (u16, Value)>) -> Self {
        let requests = Arc::<Mutex<Vec<(String, Value)>>>::default();
        let queue: VecDeque<(u16, Value)> = responses.into_iter().collect();
        let (log, queue) = (Arc::clone(&requests), Arc::new(Mutex::new(queue)));
        let service = tower::service_fn(move |request: Request<Body>| {
            let next = queue.lock().pop_front();
            let (code, object) = next.expect("no more requests than responses");
            let log = Arc::clone(&log);
            async move {
                let line = format!("{} {}", request.method(), request.uri());
                let bytes = request.into_body().collect_bytes().await;
                // A GET has no body.
                let body = serde_json::from_slice(&bytes.expect("a whole body"));
                log.lock().push((line, body.unwrap_or_default()));
                let response = Response::builder()
                    .status(code)
                    .body(Body::from(object.to_string().into_bytes()));
                Ok::<_, std::convert::Infallible>(response.expect("a response"))
            }
        });
        let store = Store::new(Filter::default());
        store.replace(Vec::new(), "1");
        Self {
            writer: Writer::new(Client::new(service, "default"), "us"),
            resource: Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced),
            store,
            requests,
        }
    }

    /// Adds a label to the Pod, and sets its phase.
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
        self.requests
            .lock()
            .iter()
            .map(|request| request.0.clone())
            .collect()
    }

    fn body(&self, number: usize) -> Value {
        self.requests.lock()[number].1.clone()
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

fn failure(code: u16, reason: &str) -> (u16, Value) {
    let status = json!({
        "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": "no",
    });
    let parsed: Status = serde_json::from_value(status.clone()).expect("a Status");
    assert_eq!(parsed.code, code);
    (code, status)
}

const POD: &str = "/api/v1/namespaces/web/pods/a";
const PODS: &str = "/api/v1/namespaces/web/pods";

#[tokio::test(start_paused = true)]
async fn missing_object_is_created() {
    let world = World::responding([
        failure(404, "NotFound"),
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
async fn existing_object_is_patched_with_the_differences_at_its_revision() {
    let labels = json!({"label-0": "yes"});
    let world = World::responding([pod("7", &labels), pod("8", &labels), pod("9", &labels)]);
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
async fn object_in_the_desired_state_is_not_written() {
    let world = World::responding([pod("7", &json!({}))]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    let object = serde_json::from_value::<Pod>(pod("7", &json!({})).1);
    let mut object = object.expect("a Pod");
    let result = world
        .writer
        .create_or_patch(target, &object, |_| Ok(()))
        .await;
    let error = result.expect_err("an object that was read is invalid");
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
async fn lost_race_is_retried_with_the_new_state() {
    let world = World::responding([
        failure(404, "NotFound"),
        failure(409, "AlreadyExists"),
        pod("7", &json!({})),
        failure(409, "Conflict"),
        pod("8", &json!({"theirs": "yes"})),
        failure(404, "NotFound"),
        failure(404, "NotFound"),
        pod("9", &json!({"label-0": "yes"})),
    ]);
    assert_eq!(world.label(None).await.expect("done"), WriteResult::Created);
    let lines = world.lines();
    let verbs: Vec<_> = lines
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        verbs,
        ["GET", "POST", "GET", "PATCH", "GET", "PATCH", "GET", "POST"]
    );
    // Each attempt began with the state at its time.
    let labels = |number: usize| world.body(number)["metadata"]["labels"].clone();
    assert_eq!(labels(3), json!({"label-0": "yes"}));
    assert_eq!(labels(5), json!({"label-1": "yes"}));
}

#[tokio::test(start_paused = true)]
async fn error_that_a_retry_does_not_change_is_not_retried() {
    let world = World::responding([failure(404, "NotFound"), failure(404, "NotFound")]);
    let error = world.label(None).await.expect_err("no such namespace");
    assert_eq!(error.status().expect("a response").code, 404);
    let world = World::responding([failure(403, "Forbidden")]);
    world.label(None).await.expect_err("not permitted");
}

#[tokio::test(start_paused = true)]
async fn change_that_fails_or_changes_the_key_is_an_error() {
    let world = World::responding([pod("7", &json!({})), pod("7", &json!({}))]);
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
    let renaming = world.writer.create_or_patch(target, &object, |pod| {
        pod.metadata.name = Some("b".to_owned());
        Ok(())
    });
    let error = renaming
        .await
        .expect_err("a function that changes the name");
    assert!(error.to_string().contains("keep both"), "{error}");
    assert_eq!(world.lines().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn deleted_or_replaced_object_is_not_patched() {
    let world = World::responding([
        failure(404, "NotFound"),
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
        done.expect("a response").map(|(_, done)| done)
    };
    assert_eq!(label("1").await, None);
    assert_eq!(label("2").await, None);
    assert_eq!(label("1").await, Some(WriteResult::Patched));
    assert_eq!(world.lines().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn only_the_status_is_retried_after_the_object_was_patched() {
    let (before, after) = (json!({}), json!({"label-0": "yes"}));
    let mut moved = pod("9", &after);
    moved.1["status"]["hostIP"] = json!("10.0.0.2");
    let world = World::responding([
        pod("7", &before),
        pod("8", &after),
        failure(409, "Conflict"),
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
    // Status fields that others have written in the meantime are preserved.
    assert_eq!(
        world.body(4),
        json!({"metadata": {"resourceVersion": "9"}, "status": {"phase": "Running"}})
    );
}

#[tokio::test(start_paused = true)]
async fn result_is_created_when_the_status_is_retried() {
    let labels = json!({"label-0": "yes"});
    let world = World::responding([
        failure(404, "NotFound"),
        pod("7", &labels),
        failure(409, "Conflict"),
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
async fn object_deleted_before_its_status_is_written_is_created_again() {
    let labels = json!({"label-0": "yes"});
    let world = World::responding([
        pod("7", &json!({})),
        pod("8", &labels),
        failure(404, "NotFound"),
        failure(404, "NotFound"),
        failure(404, "NotFound"),
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
async fn status_of_a_kind_without_the_subresource_is_an_error_without_a_retry() {
    let labels = json!({"label-0": "yes"});
    let world = World::responding([
        pod("7", &json!({})),
        pod("8", &labels),
        failure(404, "NotFound"),
        pod("8", &labels),
    ]);
    let error = world.label(Some("Running")).await.expect_err("no status");
    let message = error.to_string();
    assert!(message.contains("patch pods/status web/a"), "{message}");
    assert!(message.contains("no status subresource"), "{message}");
    assert_eq!(world.lines().len(), 4);
}

/// A Pod type with few fields.
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
async fn fields_that_the_type_does_not_have_are_preserved_also_in_lists() {
    let mut read = pod("7", &json!({}));
    read.1["spec"]["containers"] = json!([
        {"name": "web", "image": "web:1", "tty": true},
        {"name": "log", "image": "log:1", "stdin": true},
    ]);
    let world = World::responding([read, pod("8", &json!({}))]);
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
    let done = done.expect("a response").map(|(_, done)| done);
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
async fn object_is_removed_from_the_cache_with_its_last_finalizer() {
    let deleted = |revision: &str, finalizers: Value| {
        let (code, mut pod) = pod(revision, &json!({}));
        pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        pod["metadata"]["finalizers"] = finalizers;
        (code, pod)
    };
    let world = World::responding([deleted("7", json!(["ours/one"])), deleted("8", json!([]))]);
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
    done.expect("a response").expect("the object");
    assert_eq!(world.store.get(&key), None);
}

#[tokio::test(start_paused = true)]
async fn name_that_is_not_a_path_segment_causes_no_request() {
    let world = World::responding([]);
    let target = Target {
        resource: &world.resource,
        store: None,
    };
    for name in ["", "..", "a/status", "a?watch=1"] {
        let key = ObjectKey::namespaced("web", name);
        let patch = world.writer.patch(target, &key, None, |_: &mut Pod| Ok(()));
        let error = patch.await.map(drop).expect_err("an error");
        assert!(matches!(error, WriteError::Invalid { .. }), "{error}");
        let error = world.writer.delete(target, &key, "1").await;
        let error = error.expect_err("an error");
        assert!(matches!(error, WriteError::Invalid { .. }), "{error}");
    }
    assert!(world.lines().is_empty());
}
