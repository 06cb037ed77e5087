//! Concurrent writes.

use http::Method;
use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::client::Client;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Many writers at once, on threads of their own.
async fn at_once(server: &Server, each: fn(usize) -> (String, Value)) -> Vec<u16> {
    let mut writers = JoinSet::new();
    for number in 0..16 {
        let (client, (path, body)) = (Client::new(server, User::admin()), each(number));
        let runtime = Handle::current();
        writers.spawn_blocking(move || {
            let kind = "application/apply-patch+yaml";
            let sent = client.send(Method::PATCH, &path, kind, body.to_string());
            runtime.block_on(sent).code
        });
    }
    writers.join_all().await
}

#[tokio::test]
async fn concurrent_applies_of_a_new_object_all_succeed() {
    for round in 0..20 {
        let server = Server::new(ServerOptions {
            seed: round,
            ..ServerOptions::default()
        });
        let codes = at_once(&server, |number| {
            let data = json!({format!("k{number}"): "v"});
            let map = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data,
            });
            (format!("{MAPS}/a?fieldManager=m{number}"), map)
        })
        .await;
        let created = codes.iter().filter(|code| **code == 201).count();
        assert_eq!(created, 1, "{codes:?}");
        assert!(
            codes.iter().all(|code| matches!(code, 200 | 201)),
            "{codes:?}"
        );
    }
}
