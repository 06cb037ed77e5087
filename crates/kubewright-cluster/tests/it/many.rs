use kubewright_apiserver::User;
use kubewright_apiserver::store::ChangeKind;
use serde_json::json;

use crate::caller::Caller;
use crate::world::World;

const TOYS: &str = "/apis/ex.io/v1/namespaces/default/toys";

/// What a test of an operator does with a cluster of its own.
async fn one_test() {
    let world = World::new();
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
    world.admin.post(definitions, &definition).await.ok();
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = json!({
        "metadata": {"name": "player"},
        "rules": [{"apiGroups": ["ex.io"], "resources": ["toys"], "verbs": ["*"]}],
    });
    world.admin.post(&format!("{rbac}/roles"), &role).await.ok();
    let binding = json!({
        "metadata": {"name": "player"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "player"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    });
    world
        .admin
        .post(&format!("{rbac}/rolebindings"), &binding)
        .await
        .ok();

    let bob = Caller::new(&world.server, User::new("bob", [""; 0]));
    world
        .eventually("toys are served", async || bob.get(TOYS).await.code == 200)
        .await;
    assert_eq!(
        bob.get("/api/v1/namespaces/default/secrets").await.code,
        403
    );
    let store = world.server.store();
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
    world.stop().await;
}

#[test]
fn two_hundred_tests_have_a_cluster_each() {
    for _ in 0..200 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(one_test());
    }
}
