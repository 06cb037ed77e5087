//! Concurrent writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use http::Method;
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::client::{Client, Response, server};
use crate::webhook::Webhook;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const NAMESPACE: &str = "/api/v1/namespaces/default";

/// One of many concurrent requests.
struct Writing {
    method: Method,
    media_type: &'static str,
    path: String,
    body: Value,
}

/// Many writers at once, on threads of their own.
async fn at_once(server: &Server, each: fn(usize) -> Writing) -> Vec<Response> {
    let mut writers = JoinSet::new();
    for number in 0..16 {
        let (client, writing) = (Client::new(server, User::admin()), each(number));
        let runtime = Handle::current();
        writers.spawn_blocking(move || {
            let body = writing.body.to_string();
            let sent = client.send(writing.method, &writing.path, writing.media_type, body);
            runtime.block_on(sent)
        });
    }
    writers.join_all().await
}

/// Checks that concurrent writes of one new object create it once and then update it.
async fn one_creates_and_the_others_update(each: fn(usize) -> Writing) {
    for round in 0..20 {
        let server = Server::new(ServerOptions {
            seed: round,
            ..ServerOptions::default()
        });
        let responses = at_once(&server, each).await;
        let failed = responses
            .iter()
            .find(|response| !matches!(response.code, 200 | 201));
        assert!(failed.is_none(), "{failed:?}");
        let created = responses.iter().filter(|response| response.code == 201);
        assert_eq!(created.count(), 1);
    }
}

#[tokio::test]
async fn concurrent_applies_of_a_new_object_all_succeed() {
    one_creates_and_the_others_update(|number| Writing {
        method: Method::PATCH,
        media_type: "application/apply-patch+yaml",
        path: format!("{MAPS}/a?fieldManager=m{number}"),
        body: json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {format!("k{number}"): "v"},
        }),
    })
    .await;
}

#[tokio::test]
async fn concurrent_puts_of_a_new_object_all_succeed() {
    one_creates_and_the_others_update(|number| Writing {
        method: Method::PUT,
        media_type: "application/json",
        path: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/a".to_owned(),
        body: json!({"metadata": {"name": "a"}, "rules": [
            {"apiGroups": [""], "resources": [format!("r{number}")], "verbs": ["get"]}]}),
    })
    .await;
}

/// Creates a ConfigMap while the first `changes` reviews of its creation change its namespace.
async fn create_while_the_namespace_changes(changes: usize, metadata: Value) -> Response {
    let server = server();
    let client = Client::admin(&server);
    let reviews = Arc::new(AtomicUsize::new(0));
    let changing = client.clone();
    let webhook = Webhook::start(&server, move || {
        let number = reviews.fetch_add(1, Ordering::Relaxed);
        let client = changing.clone();
        async move {
            if number < changes {
                let labels = json!({"metadata": {"labels": {"n": number.to_string()}}});
                client.merge(NAMESPACE, labels).await.ok();
            }
            json!({"allowed": true})
        }
        .boxed()
    });
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    client.post(path, webhook.configuration()).await.ok();
    client.post(MAPS, json!({"metadata": metadata})).await
}

#[tokio::test(start_paused = true)]
async fn create_succeeds_after_many_changes_of_its_namespace() {
    for metadata in [json!({"name": "a"}), json!({"generateName": "a-"})] {
        let created = create_while_the_namespace_changes(12, metadata).await;
        assert_eq!(created.code, 201, "{}", created.text);
    }
}

#[tokio::test(start_paused = true)]
async fn create_in_a_namespace_that_always_changes_is_a_conflict() {
    let rejected = create_while_the_namespace_changes(usize::MAX, json!({"name": "a"})).await;
    assert_eq!(
        rejected.failure(),
        (
            409,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; \
             please apply your changes to the latest version and try again"
        )
    );
}
