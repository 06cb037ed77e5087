use serde_json::json;

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn an_object_lives_from_create_to_delete() {
    let client = Client::admin(&server());
    let created = client
        .post(MAPS, json!({"metadata": {"name": "a"}, "data": {"k": "v"}}))
        .await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.body["metadata"]["creationTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(created.body["kind"], "ConfigMap");
    let path = format!("{MAPS}/a");
    let got = client.get(&path).await;
    assert_eq!(got.body, created.body);
    let patched = client.merge(&path, json!({"data": {"k": "w"}})).await;
    assert_eq!(patched.body["data"]["k"], "w");
    assert_ne!(
        patched.body["metadata"]["resourceVersion"],
        created.body["metadata"]["resourceVersion"]
    );
    let list = client.get(MAPS).await;
    assert_eq!(list.body["kind"], "ConfigMapList");
    assert_eq!(list.body["items"].as_array().map(Vec::len), Some(1));
    assert!(list.body["items"][0].get("kind").is_none());
    let deleted = client.delete(&path, json!({})).await;
    assert_eq!(deleted.code, 200, "{}", deleted.text);
    assert_eq!(deleted.body["kind"], "Status");
    let gone = client.get(&path).await;
    assert_eq!(
        (gone.code, gone.message()),
        (404, "configmaps \"a\" not found")
    );
}
