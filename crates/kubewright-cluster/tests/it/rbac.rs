//! RBAC with a running aggregation controller, and reviews of tokens and rules.

use kubewright_apiserver::User;
use serde_json::{Value, json};

use crate::client::TestClient;
use crate::test_cluster::TestCluster;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1";

/// A user with the permission to write roles and bindings and to read Pods in all namespaces.
async fn granter(cluster: &TestCluster) -> TestClient {
    let role = json!({
        "metadata": {"name": "granter"},
        "rules": [
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create", "update", "patch", "get"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        ],
    });
    cluster
        .admin
        .post(&format!("{ROLES}/clusterroles"), &role)
        .await
        .ok();
    let binding = json!({
        "metadata": {"name": "granter"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "granter"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    });
    cluster
        .admin
        .post(&format!("{ROLES}/clusterrolebindings"), &binding)
        .await
        .ok();
    TestClient::new(&cluster.server, User::new("bob", [""; 0]))
}

#[tokio::test(start_paused = true)]
async fn user_grants_only_permissions_that_it_holds() {
    let cluster = TestCluster::new();
    let bob = granter(&cluster).await;
    let role = |name: &str, verbs: &[&str]| {
        json!({
            "metadata": {"name": name},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
        })
    };
    let roles = format!("{ROLES}/namespaces/default/roles");
    bob.post(&roles, &role("own", &["get"])).await.ok();
    let denied = bob
        .post(&roles, &role("more", &["get", "list", "watch"]))
        .await;
    assert_eq!(
        denied.failure(),
        (
            403,
            "roles.rbac.authorization.k8s.io \"more\" is forbidden: user \"bob\" \
             (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not \
             currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}"
        )
    );
    let change =
        json!({"rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]});
    assert_eq!(bob.patch(&format!("{roles}/own"), &change).await.code, 403);
    let binding = json!({
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    });
    let bindings = format!("{ROLES}/namespaces/default/rolebindings");
    let denied = bob.post(&bindings, &binding).await;
    assert_eq!(denied.code, 403);
    assert!(
        denied
            .failure()
            .1
            .contains("{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}")
    );
    let mut gone = binding.clone();
    gone["roleRef"]["name"] = "gone".into();
    assert_eq!(
        bob.post(&bindings, &gone).await.failure(),
        (
            404,
            "rolebindings.rbac.authorization.k8s.io \"gone\" not found"
        )
    );
    // The verb `bind` allows a binding of permissions that the user does not hold.
    let bind = json!({
        "metadata": {"name": "granter"},
        "rules": [
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        ],
    });
    cluster
        .admin
        .patch(&format!("{ROLES}/clusterroles/granter"), &bind)
        .await
        .ok();
    bob.post(&bindings, &binding).await.ok();
    bob.post(&roles, &role("more", &["get", "list"])).await.ok();
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn aggregated_roles_follow_the_roles_that_they_select() {
    let cluster = TestCluster::new();
    let view = async || {
        cluster
            .admin
            .get(&format!("{ROLES}/clusterroles/view"))
            .await
            .body
    };
    let has = |role: &Value, resource: &str| {
        let rules = role["rules"].as_array().cloned().unwrap_or_default();
        rules.iter().any(|rule| {
            let resources = rule["resources"].as_array();
            resources.is_some_and(|resources| resources.iter().any(|name| name == resource))
        })
    };
    cluster
        .eventually("view has rules", async || has(&view().await, "pods"))
        .await;
    assert!(!has(&view().await, "secrets"));
    let role = json!({
        "metadata": {"name": "toys", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": ["ex.io"], "resources": ["toys"], "verbs": ["get"]}],
    });
    cluster
        .admin
        .post(&format!("{ROLES}/clusterroles"), &role)
        .await
        .ok();
    cluster
        .eventually("view has toys", async || has(&view().await, "toys"))
        .await;
    let edit = async || {
        cluster
            .admin
            .get(&format!("{ROLES}/clusterroles/edit"))
            .await
            .body
    };
    cluster
        .eventually("edit has toys through view", async || {
            has(&edit().await, "toys")
        })
        .await;
    cluster
        .admin
        .delete(&format!("{ROLES}/clusterroles/toys"))
        .await
        .ok();
    cluster
        .eventually("view has no toys", async || !has(&view().await, "toys"))
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn rules_review_lists_the_rules_of_the_user() {
    let cluster = TestCluster::new();
    let bob = granter(&cluster).await;
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let review = bob
        .post(path, &json!({"spec": {"namespace": "default"}}))
        .await
        .ok();
    let rules = review["status"]["resourceRules"].as_array().unwrap();
    let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    assert!(rules.contains(&pods), "{rules:?}");
    assert_eq!(bob.post(path, &json!({"spec": {}})).await.code, 400);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn token_review_names_the_service_account() {
    let cluster = TestCluster::new();
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    cluster
        .eventually("the account exists", async || {
            cluster.admin.get(account).await.code == 200
        })
        .await;
    let request = json!({"spec": {"audiences": ["vault"]}});
    let issued = cluster
        .admin
        .post(&format!("{account}/token"), &request)
        .await
        .ok();
    let token = &issued["status"]["token"];
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let review = json!({"spec": {"token": token, "audiences": ["vault", "other"]}});
    let reviewed = cluster.admin.post(reviews, &review).await.ok();
    assert_eq!(reviewed["status"]["authenticated"], true);
    assert_eq!(
        reviewed["status"]["user"]["username"],
        "system:serviceaccount:default:default"
    );
    assert_eq!(reviewed["status"]["audiences"], json!(["vault"]));
    let reviewed = cluster
        .admin
        .post(reviews, &json!({"spec": {"token": token}}))
        .await
        .ok();
    assert_eq!(reviewed["status"].get("authenticated"), None);
    cluster.stop().await;
}
