//! Patches and server-side apply.

use http::Method;
use serde_json::json;

use crate::client::{Client, server};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(start_paused = true)]
async fn json_patch_changes_or_tests_paths() {
    let client = Client::admin(&server());
    client
        .post(MAPS, json!({"metadata": {"name": "a"}, "data": {"k": "v"}}))
        .await;
    let path = format!("{MAPS}/a");
    let kind = "application/json-patch+json";
    let patch = json!([{"op": "add", "path": "/data/x", "value": "1"}]).to_string();
    let patched = client.send(Method::PATCH, &path, kind, patch).await;
    assert_eq!(patched.body["data"], json!({"k": "v", "x": "1"}));
    let test = json!([{"op": "test", "path": "/data/x", "value": "2"}]).to_string();
    let failed = client.send(Method::PATCH, &path, kind, test).await;
    assert_eq!(
        (failed.code, failed.message()),
        (
            422,
            "the server rejected our request due to an error in our request"
        )
    );
    let malformed = client.send(Method::PATCH, &path, kind, "{}").await;
    assert_eq!(malformed.code, 400);
}

#[tokio::test(start_paused = true)]
async fn patch_of_an_unknown_type_fails_with_415() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    let response = client.send(Method::PATCH, &path, "text/plain", "{}").await;
    assert_eq!(
        (response.code, response.message()),
        (415, "415: Unsupported Media Type")
    );
}

#[tokio::test(start_paused = true)]
async fn revision_in_a_patch_is_a_precondition() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    let stale = json!({"metadata": {"resourceVersion": "1"}, "data": {"k": "v"}});
    assert_eq!(client.merge(&path, stale).await.code, 409);
    let none = json!({"metadata": {"resourceVersion": null}, "data": {"k": "v"}});
    assert_eq!(client.merge(&path, none).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn json_patch_can_test_and_change_the_revision() {
    let client = Client::admin(&server());
    let created = client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let revision = &created.body["metadata"]["resourceVersion"];
    let path = "/metadata/resourceVersion";
    for (code, operation) in [
        (422, json!({"op": "test", "path": path, "value": "1"})),
        (200, json!({"op": "test", "path": path, "value": revision})),
        (409, json!({"op": "replace", "path": path, "value": "1"})),
        (200, json!({"op": "remove", "path": path})),
    ] {
        let patch = json!([operation]).to_string();
        let kind = "application/json-patch+json";
        let response = client
            .send(Method::PATCH, &format!("{MAPS}/a"), kind, patch)
            .await;
        assert_eq!(response.code, code, "{operation}: {}", response.text);
    }
}

#[tokio::test(start_paused = true)]
async fn patch_cannot_change_the_kind_of_an_object() {
    let client = Client::admin(&server());
    client.post(MAPS, json!({"metadata": {"name": "a"}})).await;
    let path = format!("{MAPS}/a");
    for (field, value) in [("kind", "Secret"), ("apiVersion", "v2")] {
        let merged = client.merge(&path, json!({field: value})).await;
        assert_eq!(merged.code, 422, "{}", merged.text);
        let replace = json!([{"op": "replace", "path": format!("/{field}"), "value": value}]);
        let json = "application/json-patch+json";
        let patched = client
            .send(Method::PATCH, &path, json, replace.to_string())
            .await;
        assert_eq!(patched.code, 422, "{}", patched.text);
        let removed = client.merge(&path, json!({field: null})).await;
        assert_eq!(removed.code, 200, "{}", removed.text);
    }
    let stored = client.get(&path).await.body;
    assert_eq!(
        (&stored["kind"], &stored["apiVersion"]),
        (&json!("ConfigMap"), &json!("v1"))
    );
}

#[tokio::test(start_paused = true)]
async fn apply_creates_changes_and_removes_fields() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a?fieldManager=m1");
    let intent = |data| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data,
        })
    };
    let created = client
        .apply(&path, intent(json!({"x": "1", "y": "1"})))
        .await;
    assert_eq!(created.code, 201, "{}", created.text);
    assert_eq!(
        created.body["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:data": {"f:x": {}, "f:y": {}}})
    );
    let changed = client.apply(&path, intent(json!({"x": "2"}))).await;
    assert_eq!(changed.code, 200, "{}", changed.text);
    assert_eq!(changed.body["data"], json!({"x": "2"}));
    let again = client.apply(&path, intent(json!({"x": "2"}))).await;
    assert_eq!(again.body, changed.body);
}

#[tokio::test(start_paused = true)]
async fn apply_conflicts_with_another_owner_unless_forced() {
    let client = Client::admin(&server());
    let intent = |value| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
            "data": {"x": value},
        })
    };
    let path = format!("{MAPS}/a?fieldManager=");
    client.apply(&format!("{path}m1"), intent("1")).await;
    let conflict = client.apply(&format!("{path}m2"), intent("2")).await;
    assert_eq!(
        (conflict.code, conflict.message()),
        (
            409,
            "Apply failed with 1 conflict: conflict with \"m1\": .data.x"
        )
    );
    let forced = client
        .apply(&format!("{path}m2&force=true"), intent("2"))
        .await;
    assert_eq!(forced.body["data"]["x"], "2", "{}", forced.text);
    let managers: Vec<_> = forced.body["metadata"]["managedFields"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["manager"].as_str())
        .collect();
    assert_eq!(managers, ["m2"]);
}

#[tokio::test(start_paused = true)]
async fn apply_requires_a_field_manager_and_other_patches_forbid_force() {
    let client = Client::admin(&server());
    let path = format!("{MAPS}/a");
    let intent = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let unnamed = client.apply(&path, intent).await;
    assert_eq!(
        (unnamed.code, unnamed.message()),
        (
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required \
             for apply patch"
        )
    );
    let forced = client.merge(&format!("{path}?force=true"), json!({})).await;
    assert_eq!(
        (forced.code, forced.message()),
        (
            422,
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for \
             non-apply patch"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn apply_to_the_status_owns_only_the_status() {
    let client = Client::admin(&server());
    let nodes = "/api/v1/nodes";
    client.post(nodes, json!({"metadata": {"name": "n"}})).await;
    let intent = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "spec": {"unschedulable": true},
        "status": {"phase": "Running"},
    });
    let path = format!("{nodes}/n/status?fieldManager=kubelet&force=true");
    let applied = client.apply(&path, intent).await;
    assert_eq!(applied.code, 200, "{}", applied.text);
    assert_eq!(applied.body["status"]["phase"], "Running");
    assert!(applied.body["spec"].get("unschedulable").is_none());
    let entry = applied.body["metadata"]["managedFields"]
        .as_array()
        .and_then(|entries| entries.iter().find(|entry| entry["manager"] == "kubelet"))
        .unwrap();
    assert_eq!(entry["subresource"], "status");
    assert_eq!(entry["fieldsV1"], json!({"f:status": {"f:phase": {}}}));
}
