//! Watches.

use std::time::Duration;

use kubewright_apiserver::{Server, ServerOptions};
use serde_json::json;

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn watch_without_a_revision_starts_with_the_state() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}?watch=1&allowWatchBookmarks=true");
    let mut events = client.watch(&path).await;
    assert_eq!(events.brief().await, "ADDED a");
    let bookmark = events.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    let annotations = &bookmark["object"]["metadata"]["annotations"];
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    client.post(MAPS, json!({"metadata": {"name": "b"}})).await;
    assert_eq!(events.brief().await, "ADDED b");
    client
        .merge(&format!("{MAPS}/b"), json!({"data": {"k": "v"}}))
        .await;
    assert_eq!(events.brief().await, "MODIFIED b");
    client.delete(&format!("{MAPS}/b"), json!({})).await;
    let deleted = events.next().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(deleted["object"]["data"]["k"], "v");
}

#[tokio::test(start_paused = true)]
async fn watch_from_the_revision_of_a_list_misses_no_event() {
    let client = Client::admin(&server());
    let list = client.get(MAPS).await;
    let revision = list.body["metadata"]["resourceVersion"].as_str().unwrap();
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let other = "/api/v1/namespaces/kube-public/configmaps";
    client
        .post(other, json!({"metadata": {"name": "elsewhere"}}))
        .await;
    client.post(MAPS, json!({"metadata": {"name": "b"}})).await;
    let mut events = client
        .watch(&format!("{MAPS}?watch=1&resourceVersion={revision}"))
        .await;
    assert_eq!(events.brief().await, "ADDED a");
    assert_eq!(events.brief().await, "ADDED b");
}

#[tokio::test(start_paused = true)]
async fn watch_timeout_accepts_all_64_bit_integers() {
    let client = Client::admin(&server());
    for seconds in ["9223372036854775807", "-1", "0"] {
        let path = format!("{MAPS}?watch=1&timeoutSeconds={seconds}");
        let mut events = client.watch(&path).await;
        client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
        assert_eq!(events.brief().await, "ADDED a", "{seconds}");
    }
    let beyond = format!("{MAPS}?watch=1&timeoutSeconds=9223372036854775808");
    assert_eq!(client.get(&beyond).await.code, 400);
}

#[tokio::test(start_paused = true)]
async fn watch_with_a_selector_sends_added_and_deleted_on_label_changes() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    let mut events = client
        .watch(&format!("{MAPS}?watch=1&labelSelector=on"))
        .await;
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    client
        .merge(&path, json!({"metadata": {"labels": {"on": "1"}}}))
        .await;
    assert_eq!(events.brief().await, "ADDED a");
    let left = client
        .merge(&path, json!({"metadata": {"labels": {"on": null}}}))
        .await;
    let deleted = events.next().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    assert_eq!(deleted["object"]["metadata"]["labels"], json!({"on": "1"}));
    assert_eq!(
        deleted["object"]["metadata"]["resourceVersion"],
        left.body["metadata"]["resourceVersion"]
    );
}

#[tokio::test(start_paused = true)]
async fn watch_from_before_the_history_ends_with_410() {
    let server = Server::new(ServerOptions {
        history: 4,
        ..ServerOptions::default()
    });
    let client = Client::admin(&server);
    for index in 0..9 {
        client
            .post(MAPS, json!({"metadata": {"name": format!("m{index}")}}))
            .await;
    }
    let mut events = client
        .watch(&format!("{MAPS}?watch=1&resourceVersion=1"))
        .await;
    let error = events.next().await.unwrap();
    assert_eq!(error["type"], "ERROR");
    assert_eq!(error["object"]["code"], 410);
    assert_eq!(error["object"]["reason"], "Expired");
    let message = error["object"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("too old resource version: 1 ("),
        "{message}"
    );
    assert_eq!(events.brief().await, "end");
}

#[tokio::test(start_paused = true)]
async fn idle_watch_sends_bookmarks_until_its_timeout() {
    let client = Client::admin(&server());
    let begin = tokio::time::Instant::now();
    let list = client.get("/api/v1/namespaces/default/secrets").await;
    let now = list.body["metadata"]["resourceVersion"].as_str().unwrap();
    let query = format!("resourceVersion={now}&allowWatchBookmarks=true&timeoutSeconds=90");
    let path = format!("/api/v1/namespaces/default/secrets?watch=1&{query}");
    let mut events = client.watch(&path).await;
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let bookmark = events.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["kind"], "Secret");
    let map = client.get(&format!("{MAPS}/a")).await;
    assert_eq!(
        bookmark["object"]["metadata"]["resourceVersion"],
        map.body["metadata"]["resourceVersion"]
    );
    assert_eq!(begin.elapsed(), Duration::from_secs(60));
    assert_eq!(events.brief().await, "end");
    assert_eq!(begin.elapsed(), Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn contradictory_watch_options_fail_before_the_stream() {
    let client = Client::admin(&server());
    let response = client
        .get(&format!("{MAPS}?watch=1&sendInitialEvents=true"))
        .await;
    assert_eq!(response.code, 422);
    assert!(
        response
            .message()
            .ends_with("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
        "{}",
        response.message()
    );
    let junk = client
        .get(&format!("{MAPS}?watch=1&resourceVersion=x"))
        .await;
    assert_eq!(junk.code, 500);
}
