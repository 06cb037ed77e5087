//! Tests of apply, status patches and delete.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use kubewright_core::{Kind, ObjectKey, Resource, Scope};
use kubewright_runtime::controller::Failure;
use kubewright_runtime::store::{Filter, Store};
use kubewright_runtime::write::{Intent, StatusChange, Target, Writer};
use kubewright_wire::record::{Encoder, EncoderOptions, Record};
use kubewright_wire::status::Status;
use parking_lot::Mutex;
use serde_json::{Value, json};

type Requests = Arc<Mutex<Vec<(String, Value)>>>;

/// A client whose API server returns the same response to all requests, and those requests.
fn client(code: u16, response: Value) -> (Client, Requests) {
    let requests = Requests::default();
    let log = Arc::clone(&requests);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (log, text) = (Arc::clone(&log), response.to_string());
        async move {
            let line = format!("{} {}", request.method(), request.uri());
            let body = request
                .into_body()
                .collect_bytes()
                .await
                .expect("a whole body");
            let body = serde_json::from_slice(&body).expect("JSON");
            log.lock().push((line, body));
            let response = Response::builder().status(code);
            Ok::<_, std::convert::Infallible>(
                response
                    .body(Body::from(text.into_bytes()))
                    .expect("a response"),
            )
        }
    });
    (Client::new(service, "default"), requests)
}

/// A writer of Pods, its cache, and the requests to its API server.
struct World {
    writer: Writer,
    resource: Resource,
    store: Store,
    requests: Requests,
}

impl World {
    /// The API server returns the same response to all requests.
    fn responding(code: u16, response: Value) -> Self {
        let (client, requests) = client(code, response);
        Self {
            writer: Writer::new(client, "us"),
            resource: pods(),
            store: synced(),
            requests,
        }
    }

    fn target(&self) -> Target<'_> {
        Target {
            resource: &self.resource,
            store: Some(&self.store),
        }
    }

    async fn apply(&self, intent: &Intent) {
        let applied = self.writer.apply(self.target(), intent).await;
        applied.expect("applied");
    }

    async fn apply_status(&self, status: Value) {
        let key = ObjectKey::namespaced("web", "a");
        let applied = self.writer.apply_status(self.target(), &key, status).await;
        applied.expect("applied");
    }
}

fn pods() -> Resource {
    Resource::new(Kind::new("", "v1", "Pod"), "pods", Scope::Namespaced)
}

fn synced() -> Store {
    let store = Store::new(Filter::default());
    store.replace(Vec::new(), "10");
    store
}

fn pod(revision: u32, image: &str, fields: Value) -> Value {
    json!({
        "metadata": {
            "name": "a", "namespace": "web", "uid": "1",
            "resourceVersion": revision.to_string(),
            "managedFields": [
                {"manager": "us", "operation": "Apply", "fieldsType": "FieldsV1",
                 "fieldsV1": fields},
            ],
        },
        "spec": {"containers": [{"name": "app", "image": image, "tty": false}]},
    })
}

fn intent(image: &str) -> Intent {
    let object = json!({
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "app", "image": image}]},
    });
    Intent::new(&pods(), &object, Some("web")).expect("a valid intent")
}

#[tokio::test]
async fn repeated_apply_is_sent_once_and_its_response_is_cached() {
    let world = World::responding(201, pod(11, "v1", json!({"f:spec": {}})));
    for _ in 0..3 {
        world.apply(&intent("v1")).await;
    }
    let requests = world.requests.lock();
    let path = "PATCH /api/v1/namespaces/web/pods/a?fieldManager=us&force=true";
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].0, path);
    assert_eq!(requests[0].1["kind"], "Pod");
    let cached = world.store.get(&ObjectKey::namespaced("web", "a")).unwrap();
    assert_eq!(cached.uid(), "1");
}

#[tokio::test]
async fn normalized_values_are_sent_once_per_change_of_the_object() {
    let world = World::responding(200, pod(11, "v1", json!({"f:spec": {}})));
    // The response contains none of these values.
    let object = json!({
        "metadata": {"name": "a", "labels": {}},
        "spec": {"hostNetwork": false, "containers": [
            {"name": "app", "image": "v1", "resources": {"limits": {"cpu": "1000m"}}},
        ]},
    });
    let intent = Intent::new(&world.resource, &object, Some("web")).unwrap();
    for _ in 0..3 {
        world.apply(&intent).await;
    }
    assert_eq!(world.requests.lock().len(), 1);
    let changed = Record::from_value(&pod(12, "v1", json!({}))).unwrap();
    world.store.note_write(intent.key().clone(), changed);
    world.apply(&intent).await;
    assert_eq!(world.requests.lock().len(), 2);
}

#[tokio::test]
async fn normalized_status_is_sent_once() {
    let response = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"share": 1}});
    let world = World::responding(200, response);
    for _ in 0..3 {
        let status = json!({"share": 1.0, "free": {}});
        world.apply_status(status).await;
    }
    assert_eq!(world.requests.lock().len(), 1);
}

#[tokio::test]
async fn object_changed_by_others_is_applied_again() {
    let key = ObjectKey::namespaced("web", "a");
    let changes = [
        pod(12, "hacked", json!({"f:spec": {}})),
        pod(12, "v1", json!({"f:spec": {"f:more": {}}})),
    ];
    for change in changes {
        let world = World::responding(200, pod(11, "v1", json!({"f:spec": {}})));
        world.apply(&intent("v1")).await;
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some("us".to_owned()),
            kind: None,
        });
        world
            .store
            .note_write(key.clone(), encoder.encode_value(&change).unwrap());
        world.apply(&intent("v1")).await;
        assert_eq!(world.requests.lock().len(), 2, "{change}");
    }
}

#[tokio::test]
async fn alternating_intents_are_sent_each_time() {
    let world = World::responding(200, pod(11, "v1", json!({"f:spec": {}})));
    for image in ["v1", "v2", "v1"] {
        world.apply(&intent(image)).await;
    }
    assert_eq!(world.requests.lock().len(), 3);
}

#[tokio::test]
async fn status_with_fewer_fields_is_sent() {
    let response = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"x": 1, "y": 2}});
    let world = World::responding(200, response);
    for status in [
        json!({"x": 1, "y": 2}),
        json!({"x": 1, "y": 2}),
        json!({"x": 1, "y": null}),
    ] {
        world.apply_status(status).await;
    }
    let requests = world.requests.lock();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[1]
            .0
            .starts_with("PATCH /api/v1/namespaces/web/pods/a/status?")
    );
    assert_eq!(
        requests[1].1,
        json!({"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "a", "namespace": "web"}, "status": {"x": 1}})
    );
}

#[tokio::test]
async fn status_patch_has_the_differences_and_the_revision_that_was_read() {
    let response = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"x": 2, "y": 2}});
    let world = World::responding(200, response);
    let key = ObjectKey::namespaced("web", "a");
    let (before, after) = (json!({"x": 1, "y": 2}), json!({"x": 2, "y": 2}));
    let change = |old, new| StatusChange {
        key: &key,
        resource_version: "9",
        old,
        new,
    };
    let none = world
        .writer
        .patch_status(world.target(), change(&after, &after))
        .await;
    assert!(none.unwrap().is_none());
    let done = world
        .writer
        .patch_status(world.target(), change(&before, &after))
        .await;
    assert_eq!(done.unwrap().unwrap().resource_version(), "11");
    let requests = world.requests.lock();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].0,
        "PATCH /api/v1/namespaces/web/pods/a/status?fieldManager=us"
    );
    assert_eq!(
        requests[0].1,
        json!({"metadata": {"resourceVersion": "9"}, "status": {"x": 2}})
    );
    assert_eq!(world.store.get(&key).unwrap().resource_version(), "11");
}

#[tokio::test]
async fn status_patch_of_a_changed_object_is_a_conflict() {
    let (client, _) = client(409, json!(Status::conflict(&pods(), "a")));
    let (writer, resource) = (Writer::new(client, "us"), pods());
    let target = Target {
        resource: &resource,
        store: None,
    };
    let change = StatusChange {
        key: &ObjectKey::namespaced("web", "a"),
        resource_version: "9",
        old: &Value::Null,
        new: &json!({"x": 1}),
    };
    let error = writer.patch_status(target, change).await.unwrap_err();
    assert!(error.is_conflict());
    assert_eq!(error.to_string(), "patch pods/status web/a");
}

#[tokio::test]
async fn delete_sends_the_uid_and_hides_the_object() {
    let config_maps = Resource::new(
        Kind::new("", "v1", "ConfigMap"),
        "configmaps",
        Scope::Namespaced,
    );
    let response = json!(Status::deleted(&config_maps, "a", "1"));
    let (requests, cached) = deleted(&config_maps, response).await;
    assert_eq!(requests.lock()[0].1["preconditions"], json!({"uid": "1"}));
    assert!(cached.is_none());
}

#[tokio::test]
async fn delete_with_an_object_in_the_response_hides_it_unless_it_still_exists() {
    // The response for Pods, Services and ServiceAccounts is the object in either case.
    let last = pod(9, "v1", json!({}));
    let (_, cached) = deleted(&pods(), last.clone()).await;
    assert!(cached.is_none(), "no deletionTimestamp");

    let deleted_pod = |seconds: u32, finalizers: Value| {
        let mut object = pod(11, "v1", json!({}));
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["metadata"]["deletionGracePeriodSeconds"] = json!(seconds);
        object["metadata"]["finalizers"] = finalizers;
        object
    };
    let (_, cached) = deleted(&pods(), deleted_pod(0, json!([]))).await;
    assert!(cached.is_none(), "no grace period and no finalizer");
    for terminating in [
        deleted_pod(30, json!([])),
        deleted_pod(0, json!(["ex.io/wait"])),
    ] {
        let (_, cached) = deleted(&pods(), terminating).await;
        assert!(cached.unwrap().deletion_timestamp().is_some());
    }
}

/// Deletes a cached object. Returns the requests, and the object in the cache afterwards.
async fn deleted(resource: &Resource, response: Value) -> (Requests, Option<Record>) {
    let (client, requests) = client(200, response);
    let store = synced();
    let record = Record::from_value(&pod(9, "v1", json!({}))).expect("an object");
    store.replace(vec![record], "10");
    let target = Target {
        resource,
        store: Some(&store),
    };
    let key = ObjectKey::namespaced("web", "a");
    let writer = Writer::new(client, "us");
    writer.delete(target, &key, "1").await.expect("deleted");
    (requests, store.get(&key))
}

#[tokio::test]
async fn delete_of_a_missing_or_replaced_object_succeeds() {
    let resource = pods();
    let target = Target {
        resource: &resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    for (code, response) in [
        (404, json!(Status::not_found(&pods(), "a"))),
        (
            409,
            json!(conflict(
                "the UID in the precondition (1) does not match the UID in record"
            )),
        ),
        (
            409,
            json!(conflict(
                "Precondition failed: UID in precondition: 1, UID in object meta: 2"
            )),
        ),
    ] {
        let (client, _) = client(code, response);
        let deleted = Writer::new(client, "us").delete(target, &key, "1").await;
        assert!(deleted.is_ok(), "{code}");
    }
    let (client, _) = client(403, json!(Status::forbidden(&pods(), "a", "no")));
    let result = Writer::new(client, "us").delete(target, &key, "1").await;
    assert_eq!(result.unwrap_err().to_string(), "delete pods web/a");
}

#[tokio::test]
async fn delete_with_another_conflict_is_an_error() {
    let resource = pods();
    let target = Target {
        resource: &resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    let denied = conflict("admission webhook \"x\" denied the request");
    let (client, _) = client(409, json!(denied));
    let result = Writer::new(client, "us").delete(target, &key, "1").await;
    assert!(result.unwrap_err().is_conflict(), "the object still exists");
}

/// A conflict with this reason in the message.
fn conflict(why: &str) -> Status {
    let mut status = Status::conflict(&pods(), "a");
    status.message = format!("Operation cannot be fulfilled on pods \"a\": {why}");
    status
}

/// API priority and fairness responds with a line of text, and the retry delay is only in the header.
#[tokio::test]
async fn retry_after_header_of_a_failed_write_is_returned() {
    let service = tower::service_fn(async |_: Request<Body>| {
        let body = Body::from(b"Too many requests, please try again later.".to_vec());
        let response = Response::builder().status(429).header("retry-after", "3");
        Ok::<_, std::convert::Infallible>(response.body(body).expect("a response"))
    });
    let writer = Writer::new(Client::new(service, "default"), "us");
    let (resource, store) = (pods(), synced());
    let target = Target {
        resource: &resource,
        store: Some(&store),
    };
    let result = writer.apply(target, &intent("nginx")).await;
    let failure = Failure::from(result.expect_err("the server is busy"));
    assert_eq!(failure.server_retry_after(), Some(Duration::from_secs(3)));
}
