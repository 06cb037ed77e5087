//! Many clusters in one process.

use kubewright_apiserver::User;
use kubewright_apiserver::store::ChangeKind;
use serde_json::json;

use crate::client::TestClient;
use crate::test_cluster::TestCluster;

const TOYS: &str = "/apis/ex.io/v1/namespaces/default/toys";

/// A typical test of an operator: a custom resource, a role, a watch, a finalizer.
async fn run_typical_test() {
    let cluster = TestCluster::new();
    let definition = json!({
        "metadata": {"name": "toys.ex.io"},
        "spec": {
            "group": "ex.io", "scope": "Namespaced",
            "names": {"plural": "toys", "singular": "toy", "kind": "Toy", "listKind": "ToyList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                }},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    cluster.admin.post(definitions, &definition).await.ok();
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = json!({
        "metadata": {"name": "player"},
        "rules": [{"apiGroups": ["ex.io"], "resources": ["toys"], "verbs": ["*"]}],
    });
    cluster
        .admin
        .post(&format!("{rbac}/roles"), &role)
        .await
        .ok();
    let binding = json!({
        "metadata": {"name": "player"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "player"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    });
    cluster
        .admin
        .post(&format!("{rbac}/rolebindings"), &binding)
        .await
        .ok();

    let bob = TestClient::new(&cluster.server, User::new("bob", [""; 0]));
    cluster
        .eventually("toys are served", async || bob.get(TOYS).await.code == 200)
        .await;
    assert_eq!(
        bob.get("/api/v1/namespaces/default/secrets").await.code,
        403
    );
    let store = cluster.server.store();
    let mut changes = store.watch_resource_from("toys.ex.io", store.revision());
    let toy = json!({
        "apiVersion": "ex.io/v1", "kind": "Toy",
        "metadata": {"name": "bear", "finalizers": ["ex.io/hug"]}, "spec": {"size": 3},
    });
    bob.post(TOYS, &toy).await.ok();
    bob.delete(&format!("{TOYS}/bear")).await.ok();
    assert_eq!(bob.get(&format!("{TOYS}/bear")).await.code, 200);
    let free = json!({"metadata": {"finalizers": null}});
    bob.patch(&format!("{TOYS}/bear"), &free).await.ok();
    assert_eq!(bob.get(&format!("{TOYS}/bear")).await.code, 404);
    let mut seen = Vec::new();
    while seen.last() != Some(&ChangeKind::Deleted) {
        let batch = changes.next().await.expect("the log is long enough");
        seen.extend(batch.iter().map(|change| change.kind));
    }
    assert_eq!(
        seen,
        [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted]
    );
    cluster.stop().await;
}

#[test]
fn two_hundred_clusters_run_one_after_the_other() {
    for _ in 0..200 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(run_typical_test());
    }
}
