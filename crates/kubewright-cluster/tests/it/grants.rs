use kubewright_apiserver::User;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::world::World;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1";

/// A user who may write roles and bindings, and read Pods, everywhere.
async fn granter(world: &World) -> Caller {
    let role = json!({
        "metadata": {"name": "granter"},
        "rules": [
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["create", "update", "patch", "get"]},
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
        ],
    });
    world
        .admin
        .post(&format!("{ROLES}/clusterroles"), &role)
        .await
        .ok();
    let binding = json!({
        "metadata": {"name": "granter"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "granter"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}],
    });
    world
        .admin
        .post(&format!("{ROLES}/clusterrolebindings"), &binding)
        .await
        .ok();
    Caller::new(&world.server, User::new("bob", [""; 0]))
}

#[tokio::test(start_paused = true)]
async fn nobody_grants_what_he_does_not_hold() {
    let world = World::new();
    let bob = granter(&world).await;
    let role = |name: &str, verbs: &[&str]| {
        json!({
            "metadata": {"name": name},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
        })
    };
    let roles = format!("{ROLES}/namespaces/default/roles");
    bob.post(&roles, &role("own", &["get"])).await.ok();
    let refused = bob
        .post(&roles, &role("more", &["get", "list", "watch"]))
        .await;
    assert_eq!(
        refused.failure(),
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
    let refused = bob.post(&bindings, &binding).await;
    assert_eq!(refused.code, 403);
    assert!(
        refused
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
    // Who may bind a role may bind it without holding what it gives.
    let bind = json!({
        "metadata": {"name": "granter"},
        "rules": [
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["*"]},
        ],
    });
    world
        .admin
        .patch(&format!("{ROLES}/clusterroles/granter"), &bind)
        .await
        .ok();
    bob.post(&bindings, &binding).await.ok();
    bob.post(&roles, &role("more", &["get", "list"])).await.ok();
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn roles_made_of_others_follow_them() {
    let world = World::new();
    let view = async || {
        world
            .admin
            .get(&format!("{ROLES}/clusterroles/view"))
            .await
            .body
    };
    let has = |role: &Value, resource: &str| {
        let rules = role["rules"].as_array().cloned().unwrap_or_default();
        rules.iter().any(|rule| {
            let resources = rule["resources"].as_array();
            resources.is_some_and(|all| all.iter().any(|one| one == resource))
        })
    };
    world
        .eventually("view is filled", async || has(&view().await, "pods"))
        .await;
    assert!(!has(&view().await, "secrets"));
    let role = json!({
        "metadata": {"name": "toys", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        "rules": [{"apiGroups": ["ex.io"], "resources": ["toys"], "verbs": ["get"]}],
    });
    world
        .admin
        .post(&format!("{ROLES}/clusterroles"), &role)
        .await
        .ok();
    world
        .eventually("view has toys", async || has(&view().await, "toys"))
        .await;
    let edit = async || {
        world
            .admin
            .get(&format!("{ROLES}/clusterroles/edit"))
            .await
            .body
    };
    world
        .eventually("edit has them through view", async || {
            has(&edit().await, "toys")
        })
        .await;
    world
        .admin
        .delete(&format!("{ROLES}/clusterroles/toys"))
        .await
        .ok();
    world
        .eventually("view has lost them", async || !has(&view().await, "toys"))
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_user_is_told_what_he_may_do() {
    let world = World::new();
    let bob = granter(&world).await;
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let review = bob
        .post(path, &json!({"spec": {"namespace": "default"}}))
        .await
        .ok();
    let rules = review["status"]["resourceRules"].as_array().unwrap();
    let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    assert!(rules.contains(&pods), "{rules:?}");
    assert_eq!(bob.post(path, &json!({"spec": {}})).await.code, 400);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_token_review_names_the_account() {
    let world = World::new();
    let account = "/api/v1/namespaces/default/serviceaccounts/default";
    world
        .eventually("the account", async || {
            world.admin.get(account).await.code == 200
        })
        .await;
    let request = json!({"spec": {"audiences": ["vault"]}});
    let token = world
        .admin
        .post(&format!("{account}/token"), &request)
        .await
        .ok();
    let token = &token["status"]["token"];
    let reviews = "/apis/authentication.k8s.io/v1/tokenreviews";
    let review = json!({"spec": {"token": token, "audiences": ["vault", "other"]}});
    let answer = world.admin.post(reviews, &review).await.ok();
    assert_eq!(answer["status"]["authenticated"], true);
    assert_eq!(
        answer["status"]["user"]["username"],
        "system:serviceaccount:default:default"
    );
    assert_eq!(answer["status"]["audiences"], json!(["vault"]));
    let answer = world
        .admin
        .post(reviews, &json!({"spec": {"token": token}}))
        .await
        .ok();
    assert_eq!(answer["status"].get("authenticated"), None);
    world.stop().await;
}
