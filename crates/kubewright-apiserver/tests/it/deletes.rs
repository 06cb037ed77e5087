//! Deletion: finalizers, preconditions, grace periods, propagation.

use std::time::Duration;

use serde_json::json;

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

#[tokio::test(start_paused = true)]
async fn object_with_a_finalizer_is_deleted_when_it_is_removed() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    let body = json!({"metadata": {"name": "a", "finalizers": ["ex.io/f"]}});
    client.post(MAPS, body).await;
    let mut events = client.watch(&format!("{MAPS}?watch=1")).await;
    assert_eq!(events.brief().await, "ADDED a");
    let marked = client.delete(&path, json!({})).await;
    assert_eq!(marked.code, 200);
    assert_eq!(
        marked.body["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:00Z"
    );
    assert_eq!(marked.body["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(events.brief().await, "MODIFIED a");
    let more = json!({"metadata": {"finalizers": ["ex.io/f", "ex.io/g"]}});
    let rejected = client.merge(&path, more).await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            422,
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be \
             added if the object is being deleted, found new finalizers []string{\"ex.io/g\"}"
        )
    );
    let again = client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    assert_eq!(
        (again.code, again.message()),
        (
            409,
            "object is being deleted: configmaps \"a\" already exists"
        )
    );
    let released = client
        .merge(&path, json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(released.code, 200);
    assert_eq!(events.brief().await, "DELETED a");
    assert_eq!(client.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn delete_with_failed_preconditions_is_a_conflict() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let other = client
        .delete(&path, json!({"preconditions": {"uid": "other"}}))
        .await;
    assert_eq!(other.code, 409);
    assert!(
        other.message().starts_with(
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (other)"
        ),
        "{}",
        other.message()
    );
    let stale = json!({"preconditions": {"resourceVersion": "1"}});
    assert_eq!(client.delete(&path, stale).await.code, 409);
}

#[tokio::test(start_paused = true)]
async fn delete_of_a_running_pod_respects_its_grace_period() {
    let client = Client::admin(&server());
    let path = format!("{PODS}/p");
    let spec = json!({
        "containers": [{"name": "c", "image": "i"}], "nodeName": "n",
        "terminationGracePeriodSeconds": 20,
    });
    client
        .post(PODS, json!({"metadata": {"name": "p"}, "spec": spec}))
        .await;
    let marked = client.delete(&path, json!({})).await;
    let metadata = &marked.body["metadata"];
    assert_eq!(metadata["deletionTimestamp"], "2026-01-01T00:00:20Z");
    assert_eq!(metadata["deletionGracePeriodSeconds"], 20);
    assert_eq!(metadata["generation"], 2);
    tokio::time::advance(Duration::from_secs(2)).await;
    let longer = client
        .delete(&path, json!({"gracePeriodSeconds": 60}))
        .await;
    assert_eq!(
        longer.body["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:20Z"
    );
    let shorter = client.delete(&path, json!({"gracePeriodSeconds": 5})).await;
    assert_eq!(
        shorter.body["metadata"]["deletionTimestamp"],
        "2026-01-01T00:00:05Z"
    );
    let gone = client.delete(&path, json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(gone.body["kind"], "Pod");
    assert_eq!(client.get(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn orphan_and_foreground_propagation_add_a_finalizer() {
    let client = Client::admin(&server());
    for (name, policy, finalizer) in [
        ("a", "Orphan", "orphan"),
        ("b", "Foreground", "foregroundDeletion"),
    ] {
        client.post(MAPS, json!({"metadata": {"name": name}})).await;
        let options = json!({"propagationPolicy": policy});
        let marked = client.delete(&format!("{MAPS}/{name}"), options).await;
        assert_eq!(marked.body["metadata"]["finalizers"], json!([finalizer]));
    }
}

#[tokio::test(start_paused = true)]
async fn delete_of_a_collection_respects_the_selector() {
    let client = Client::admin(&server());
    for (name, tier) in [("a", "x"), ("b", "y")] {
        let body = json!({"metadata": {"name": name, "labels": {"tier": tier}}});
        client.post(MAPS, body).await;
    }
    let path = format!("{MAPS}?labelSelector=tier%3Dx");
    let deleted = client.delete(&path, json!({})).await;
    assert_eq!(deleted.body["kind"], "ConfigMapList");
    assert_eq!(deleted.body["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.get(&format!("{MAPS}/a")).await.code, 404);
    assert_eq!(client.get(&format!("{MAPS}/b")).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn namespace_is_removed_after_its_finalizers() {
    let client = Client::admin(&server());
    let path = "/api/v1/namespaces/n";
    let created = client
        .post("/api/v1/namespaces", json!({"metadata": {"name": "n"}}))
        .await;
    assert_eq!(created.body["status"]["phase"], "Active");
    assert_eq!(created.body["spec"]["finalizers"], json!(["kubernetes"]));
    let labels = &created.body["metadata"]["labels"];
    assert_eq!(labels["kubernetes.io/metadata.name"], "n");
    let marked = client.delete(path, json!({})).await;
    assert_eq!(marked.body["status"]["phase"], "Terminating");
    let rejected = client
        .post(
            "/api/v1/namespaces/n/configmaps",
            json!({"metadata": {"name": "a"}}),
        )
        .await;
    assert_eq!(
        (rejected.code, rejected.message()),
        (
            403,
            "configmaps \"a\" is forbidden: unable to create new content in namespace n because \
             it is being terminated"
        )
    );
    let body = json!({"metadata": {"name": "n"}, "spec": {}});
    let finalized = client.put(&format!("{path}/finalize"), body).await;
    assert_eq!(finalized.code, 200, "{}", finalized.text);
    assert_eq!(client.get(path).await.code, 404);
    let kept = client.delete("/api/v1/namespaces/default", json!({})).await;
    assert_eq!(
        (kept.code, kept.message()),
        (
            403,
            "namespaces \"default\" is forbidden: this namespace may not be deleted"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn overflowing_grace_period_saturates() {
    let client = Client::admin(&server());
    let path = format!("{PODS}/p");
    let pod = json!({"metadata": {"name": "p"}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "nodeName": "n",
    }});
    client.post(PODS, pod).await;
    let forever = json!({"gracePeriodSeconds": i64::MAX});
    let marked = client.delete(&path, forever).await;
    assert_eq!(marked.code, 200, "{}", marked.text);
    let end = marked.body["metadata"]["deletionTimestamp"].as_str();
    assert!(end.is_some_and(|end| end.starts_with("9999-")), "{end:?}");
    let sooner = json!({"gracePeriodSeconds": 1});
    assert_eq!(client.delete(&path, sooner).await.code, 200);
}
