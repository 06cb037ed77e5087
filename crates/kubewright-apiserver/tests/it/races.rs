//! Concurrent writes.

use http::Method;
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::client::{Client, Response};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

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
