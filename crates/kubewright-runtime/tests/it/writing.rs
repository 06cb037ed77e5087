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

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// A client whose API server gives the same answer to all, and what it was asked.
fn client(code: u16, answer: Value) -> (Client, Seen) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let service = tower::service_fn(move |request: Request<Body>| {
        let (kept, answer) = (Arc::clone(&kept), answer.to_string());
        async move {
            let line = format!("{} {}", request.method(), request.uri());
            let body = request
                .into_body()
                .collect_bytes()
                .await
                .expect("a whole body");
            let body = serde_json::from_slice(&body).expect("JSON");
            kept.lock().push((line, body));
            let response = Response::builder().status(code);
            Ok::<_, std::convert::Infallible>(
                response
                    .body(Body::from(answer.into_bytes()))
                    .expect("a response"),
            )
        }
    });
    (Client::new(service, "default"), seen)
}

/// A writer of Pods, its cache, and what its API server was asked.
struct World {
    writer: Writer,
    resource: Resource,
    store: Store,
    seen: Seen,
}

impl World {
    /// Its API server gives the same answer to all.
    fn answering(code: u16, answer: Value) -> Self {
        let (client, seen) = client(code, answer);
        Self {
            writer: Writer::new(client, "us"),
            resource: pods(),
            store: synced(),
            seen,
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
async fn the_same_apply_is_sent_once_and_its_answer_is_read_at_once() {
    let world = World::answering(201, pod(11, "v1", json!({"f:spec": {}})));
    for _ in 0..3 {
        world.apply(&intent("v1")).await;
    }
    let seen = world.seen.lock();
    let path = "PATCH /api/v1/namespaces/web/pods/a?fieldManager=us&force=true";
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].0, path);
    assert_eq!(seen[0].1["kind"], "Pod");
    let cached = world.store.get(&ObjectKey::namespaced("web", "a")).unwrap();
    assert_eq!(cached.uid(), "1");
}

#[tokio::test]
async fn what_the_api_server_spells_differently_is_sent_once_per_change_of_the_object() {
    let world = World::answering(200, pod(11, "v1", json!({"f:spec": {}})));
    // None of this is found in the answer.
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
    assert_eq!(world.seen.lock().len(), 1);
    let changed = Record::from_value(&pod(12, "v1", json!({}))).unwrap();
    world.store.note_write(intent.key().clone(), changed);
    world.apply(&intent).await;
    assert_eq!(world.seen.lock().len(), 2);
}

#[tokio::test]
async fn a_status_that_the_api_server_spells_differently_is_sent_once() {
    let answer = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"share": 1}});
    let world = World::answering(200, answer);
    for _ in 0..3 {
        let status = json!({"share": 1.0, "free": {}});
        world.apply_status(status).await;
    }
    assert_eq!(world.seen.lock().len(), 1);
}

#[tokio::test]
async fn an_object_that_others_changed_is_applied_again() {
    let key = ObjectKey::namespaced("web", "a");
    let changes = [
        pod(12, "hacked", json!({"f:spec": {}})),
        pod(12, "v1", json!({"f:spec": {"f:more": {}}})),
    ];
    for change in changes {
        let world = World::answering(200, pod(11, "v1", json!({"f:spec": {}})));
        world.apply(&intent("v1")).await;
        let mut encoder = Encoder::new(EncoderOptions {
            field_manager: Some("us".to_owned()),
            kind: None,
        });
        world
            .store
            .note_write(key.clone(), encoder.encode_value(&change).unwrap());
        world.apply(&intent("v1")).await;
        assert_eq!(world.seen.lock().len(), 2, "{change}");
    }
}

#[tokio::test]
async fn a_change_of_mind_and_back_is_sent_each_time() {
    let world = World::answering(200, pod(11, "v1", json!({"f:spec": {}})));
    for image in ["v1", "v2", "v1"] {
        world.apply(&intent(image)).await;
    }
    assert_eq!(world.seen.lock().len(), 3);
}

#[tokio::test]
async fn a_status_that_says_less_than_before_is_sent() {
    let answer = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"x": 1, "y": 2}});
    let world = World::answering(200, answer);
    for status in [
        json!({"x": 1, "y": 2}),
        json!({"x": 1, "y": 2}),
        json!({"x": 1, "y": null}),
    ] {
        world.apply_status(status).await;
    }
    let seen = world.seen.lock();
    assert_eq!(seen.len(), 2);
    assert!(
        seen[1]
            .0
            .starts_with("PATCH /api/v1/namespaces/web/pods/a/status?")
    );
    assert_eq!(
        seen[1].1,
        json!({"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "a", "namespace": "web"}, "status": {"x": 1}})
    );
}

#[tokio::test]
async fn a_changed_status_is_the_difference_and_holds_for_what_was_read() {
    let answer = json!({"metadata": {"name": "a", "namespace": "web", "resourceVersion": "11"},
                        "status": {"x": 2, "y": 2}});
    let world = World::answering(200, answer);
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
    let seen = world.seen.lock();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        seen[0].0,
        "PATCH /api/v1/namespaces/web/pods/a/status?fieldManager=us"
    );
    assert_eq!(
        seen[0].1,
        json!({"metadata": {"resourceVersion": "9"}, "status": {"x": 2}})
    );
    assert_eq!(world.store.get(&key).unwrap().resource_version(), "11");
}

#[tokio::test]
async fn a_status_of_an_object_that_has_changed_since_is_a_conflict() {
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
async fn a_delete_names_the_uid_and_hides_the_object() {
    let config_maps = Resource::new(
        Kind::new("", "v1", "ConfigMap"),
        "configmaps",
        Scope::Namespaced,
    );
    let answer = json!(Status::deleted(&config_maps, "a", "1"));
    let (seen, cached) = deleted(&config_maps, answer).await;
    assert_eq!(seen.lock()[0].1["preconditions"], json!({"uid": "1"}));
    assert!(cached.is_none());
}

#[tokio::test]
async fn a_delete_that_answers_with_the_object_hides_it_unless_it_waits() {
    // Pods, Services, ServiceAccounts and some more answer with the object in either case.
    let last = pod(9, "v1", json!({}));
    let (_, cached) = deleted(&pods(), last.clone()).await;
    assert!(cached.is_none(), "no deletionTimestamp");

    let going = |seconds: u32, finalizers: Value| {
        let mut object = pod(11, "v1", json!({}));
        object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        object["metadata"]["deletionGracePeriodSeconds"] = json!(seconds);
        object["metadata"]["finalizers"] = finalizers;
        object
    };
    let (_, cached) = deleted(&pods(), going(0, json!([]))).await;
    assert!(cached.is_none(), "no grace period and no finalizer");
    for waits in [going(30, json!([])), going(0, json!(["ex.io/wait"]))] {
        let (_, cached) = deleted(&pods(), waits).await;
        assert!(cached.unwrap().deletion_timestamp().is_some());
    }
}

/// Deletes a cached object, and what the cache then shows.
async fn deleted(resource: &Resource, answer: Value) -> (Seen, Option<Record>) {
    let (client, seen) = client(200, answer);
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
    (seen, store.get(&key))
}

#[tokio::test]
async fn what_is_gone_or_another_by_now_needs_no_delete() {
    let resource = pods();
    let target = Target {
        resource: &resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    for (code, answer) in [
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
        let (client, _) = client(code, answer);
        let deleted = Writer::new(client, "us").delete(target, &key, "1").await;
        assert!(deleted.is_ok(), "{code}");
    }
    let (client, _) = client(403, json!(Status::forbidden(&pods(), "a", "no")));
    let refused = Writer::new(client, "us").delete(target, &key, "1").await;
    assert_eq!(refused.unwrap_err().to_string(), "delete pods web/a");
}

#[tokio::test]
async fn a_delete_that_conflicts_for_another_reason_is_not_taken_for_done() {
    let resource = pods();
    let target = Target {
        resource: &resource,
        store: None,
    };
    let key = ObjectKey::namespaced("web", "a");
    let denied = conflict("admission webhook \"x\" denied the request");
    let (client, _) = client(409, json!(denied));
    let refused = Writer::new(client, "us").delete(target, &key, "1").await;
    assert!(
        refused.unwrap_err().is_conflict(),
        "the object is still there"
    );
}

/// A conflict for this reason.
fn conflict(why: &str) -> Status {
    let mut status = Status::conflict(&pods(), "a");
    status.message = format!("Operation cannot be fulfilled on pods \"a\": {why}");
    status
}

/// Where too many requests wait, the API server answers with a line of text, and only the head
/// says when to come back.
#[tokio::test]
async fn the_head_of_a_refused_write_says_when_to_come_back() {
    let service = tower::service_fn(async |_: Request<Body>| {
        let body = Body::from(b"Too many requests, please try again later.".to_vec());
        let answer = Response::builder().status(429).header("retry-after", "3");
        Ok::<_, std::convert::Infallible>(answer.body(body).expect("a response"))
    });
    let writer = Writer::new(Client::new(service, "default"), "us");
    let (resource, store) = (pods(), synced());
    let target = Target {
        resource: &resource,
        store: Some(&store),
    };
    let refusal = writer.apply(target, &intent("nginx")).await;
    let failure = Failure::from(refusal.expect_err("the server is busy"));
    assert_eq!(failure.server_retry_after(), Some(Duration::from_secs(3)));
}
