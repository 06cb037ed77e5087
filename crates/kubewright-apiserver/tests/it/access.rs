//! Authentication, authorization and impersonation.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::time::Duration;

use kubewright_apiserver::{
    AuthorizationFailure, AuthorizationWebhook, CacheTtl, Server, ServerOptions, User,
};
use kubewright_core::Clock;
use serde_json::{Value, json};

use crate::client::Client;

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1";

fn server() -> Server {
    Server::new(ServerOptions {
        clock: Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap()),
        ..ServerOptions::default()
    })
}

/// Lets a subject do something with pods of the namespace `default`.
async fn grant(admin: &Client, subject: Value, verbs: &[&str]) {
    let role = json!({
        "metadata": {"name": "r"},
        "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}],
    });
    let path = format!("{ROLES}/namespaces/default");
    admin.post(&format!("{path}/roles"), &role).await.ok();
    let binding = json!({
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
        "subjects": [subject],
    });
    admin
        .post(&format!("{path}/rolebindings"), &binding)
        .await
        .ok();
}

#[tokio::test(start_paused = true)]
async fn role_takes_effect_with_the_next_request() {
    let server = server();
    let admin = Client::admin(&server);
    let bob = Client::new(&server, User::new("bob", [""; 0]));
    let pods = "/api/v1/namespaces/default/pods";
    let rejected = bob.get(pods).await;
    assert_eq!(
        rejected.failure(),
        (
            403,
            r#"pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "default""#
        )
    );
    assert_eq!(rejected.body["details"], json!({"kind": "pods"}));
    grant(&admin, json!({"kind": "User", "name": "bob"}), &["list"]).await;
    bob.get(pods).await.ok();
    assert_eq!(bob.get("/api/v1/pods").await.code, 403);
    assert_eq!(bob.get(&format!("{pods}/x")).await.code, 403);
    admin
        .delete(
            &format!("{ROLES}/namespaces/default/rolebindings/b"),
            json!({}),
        )
        .await
        .ok();
    assert_eq!(bob.get(pods).await.code, 403);
}

#[tokio::test(start_paused = true)]
async fn permissions_in_a_namespace_do_not_extend_to_others_through_its_path() {
    let server = server();
    let admin = Client::admin(&server);
    let bob = Client::new(&server, User::new("bob", [""; 0]));
    let path = format!("{ROLES}/namespaces/default");
    let role = json!({
        "metadata": {"name": "all"},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    });
    admin.post(&format!("{path}/roles"), &role).await.ok();
    let binding = json!({
        "metadata": {"name": "all"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "all"},
        "subjects": [{"kind": "User", "name": "bob"}],
    });
    admin
        .post(&format!("{path}/rolebindings"), &binding)
        .await
        .ok();
    let inside = "/api/v1/namespaces/default/namespaces";
    assert_eq!(bob.get(inside).await.code, 404);
    assert_eq!(bob.get(&format!("{inside}/kube-public")).await.code, 404);
    assert_eq!(
        bob.delete(&format!("{inside}/kube-public"), json!({}))
            .await
            .code,
        404
    );
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let status = format!("{inside}/kube-public/status");
    assert_eq!(bob.merge(&status, &label).await.code, 404);
    let new = json!({"metadata": {"name": "mine"}});
    assert_eq!(bob.post(inside, &new).await.code, 404);
    bob.get("/api/v1/namespaces/default").await.ok();
    assert_eq!(bob.get("/api/v1/namespaces/kube-public").await.code, 403);
}

#[tokio::test(start_paused = true)]
async fn role_ref_of_a_binding_is_immutable() {
    let admin = Client::admin(&server());
    grant(&admin, json!({"kind": "User", "name": "bob"}), &["list"]).await;
    let binding = format!("{ROLES}/namespaces/default/rolebindings/b");
    let other = json!({"roleRef": {"kind": "ClusterRole", "name": "cluster-admin"}});
    let rejected = admin.merge(&binding, &other).await;
    let (code, message) = rejected.failure();
    assert_eq!(code, 422, "{message}");
    assert!(message.ends_with("cannot change roleRef"), "{message}");
    let subjects = json!({"subjects": [{"kind": "User", "name": "eve"}]});
    admin.merge(&binding, &subjects).await.ok();
}

#[tokio::test(start_paused = true)]
async fn every_user_can_use_discovery_and_review_own_access() {
    let server = server();
    let bob = Client::new(&server, User::new("bob", [""; 0]));
    bob.get("/version").await.ok();
    bob.get("/apis").await.ok();
    let metrics = bob.get("/metrics").await;
    assert_eq!(
        metrics.failure(),
        (403, r#"forbidden: User "bob" cannot get path "/metrics""#)
    );
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"}},
    });
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let response = bob.post(reviews, &review).await;
    assert_eq!(
        (response.code, &response.body["status"]["allowed"]),
        (201, &json!(false))
    );
    let admin = Client::admin(&server);
    grant(&admin, json!({"kind": "User", "name": "bob"}), &["list"]).await;
    let response = bob.post(reviews, &review).await.ok();
    assert_eq!(
        response["status"],
        json!({"allowed": true, "reason": r#"RBAC: allowed by RoleBinding "b/default" of Role "r" to User "bob""#})
    );
    let other = json!({"spec": {"user": "bob", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}});
    let response = admin
        .post("/apis/authorization.k8s.io/v1/subjectaccessreviews", &other)
        .await;
    assert_eq!(response.ok()["status"]["allowed"], false);
}

#[tokio::test(start_paused = true)]
async fn token_authenticates_until_it_expires_or_its_account_is_deleted() {
    let server = server();
    let admin = Client::admin(&server);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .await
        .ok();
    grant(
        &admin,
        json!({"kind": "ServiceAccount", "name": "robot"}),
        &["list"],
    )
    .await;
    let path = format!("{accounts}/robot/token");
    let short = json!({"spec": {"expirationSeconds": 60}});
    assert_eq!(admin.post(&path, &short).await.code, 422);
    let issued = admin
        .post(&path, &json!({"spec": {"expirationSeconds": 600}}))
        .await;
    assert_eq!(issued.code, 201);
    let token = issued.body["status"]["token"].as_str().unwrap().to_owned();
    let nobody = User::new("nobody", [""; 0]);
    let bearer = |token: &str| {
        Client::new(&server, nobody.clone())
            .with_header("authorization", &format!("Bearer {token}"))
    };
    let robot = bearer(&token);
    robot.get("/api/v1/namespaces/default/pods").await.ok();
    let review = robot
        .post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            &json!({}),
        )
        .await
        .ok();
    assert_eq!(
        review["status"]["userInfo"]["username"],
        "system:serviceaccount:default:robot"
    );
    let rejected = bearer("no.such.token").get("/version").await;
    assert_eq!(rejected.failure(), (401, "Unauthorized"));

    tokio::time::advance(Duration::from_secs(700)).await;
    assert_eq!(robot.get("/version").await.code, 401);
    let issued = admin.post(&path, &json!({})).await.ok();
    let robot = bearer(issued["status"]["token"].as_str().unwrap());
    robot.get("/version").await.ok();
    admin
        .delete(&format!("{accounts}/robot"), json!({}))
        .await
        .ok();
    assert_eq!(robot.get("/version").await.code, 401);
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .await
        .ok();
    assert_eq!(robot.get("/version").await.code, 401);
}

#[tokio::test(start_paused = true)]
async fn impersonated_request_has_only_the_permissions_of_that_user() {
    let server = server();
    let admin = Client::admin(&server);
    let as_bob = admin.clone().with_header("impersonate-user", "bob");
    assert_eq!(as_bob.get("/api/v1/pods").await.code, 403);
    let review = as_bob
        .post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            &json!({}),
        )
        .await
        .ok();
    assert_eq!(
        review["status"]["userInfo"],
        json!({"username": "bob", "groups": ["system:authenticated"]})
    );
    let bob = Client::new(&server, User::new("bob", [""; 0]));
    let as_admin = bob.with_header("impersonate-user", "admin");
    assert_eq!(as_admin.get("/api/v1/pods").await.code, 403);
    let groups_only = admin.with_header("impersonate-group", "devs");
    assert_eq!(groups_only.get("/api/v1/pods").await.code, 400);
}

#[tokio::test(start_paused = true)]
async fn tokens_stay_valid_in_a_fork() {
    let server = server();
    let admin = Client::admin(&server);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin
        .post(accounts, &json!({"metadata": {"name": "robot"}}))
        .await
        .ok();
    let issued = admin
        .post(&format!("{accounts}/robot/token"), &json!({}))
        .await
        .ok();
    let bearer = format!("Bearer {}", issued["status"]["token"].as_str().unwrap());
    let nobody = User::new("nobody", [""; 0]);
    let fork = server.fork();
    let robot = |server| Client::new(server, nobody.clone()).with_header("authorization", &bearer);
    robot(&fork).get("/version").await.ok();
    admin
        .delete(&format!("{accounts}/robot"), json!({}))
        .await
        .ok();
    assert_eq!(robot(&server).get("/version").await.code, 401);
    robot(&fork).get("/version").await.ok();
}

/// No process listens on that port.
fn unreachable_authorizer(on_failure: AuthorizationFailure) -> Server {
    Server::new(ServerOptions {
        authorizer: Some(AuthorizationWebhook {
            url: "https://127.0.0.1:1/authorize".to_owned(),
            ca_pem: String::new(),
            timeout: Duration::from_secs(3),
            on_failure,
            ttl: CacheTtl::default(),
        }),
        ..ServerOptions::default()
    })
}

#[tokio::test]
async fn unreachable_authorization_webhook_leaves_the_decision_to_rbac_or_denies() {
    for (on_failure, allowed) in [
        (AuthorizationFailure::NoOpinion, true),
        (AuthorizationFailure::Deny, false),
    ] {
        let server = unreachable_authorizer(on_failure);
        let admin = Client::admin(&server);
        let bob = json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"});
        grant(&admin, bob, &["list"]).await;
        let bob = Client::new(&server, User::new("bob", [""; 0]));
        let response = bob.get("/api/v1/namespaces/default/pods").await;
        let wanted = if allowed { 200 } else { 500 };
        assert_eq!(response.code, wanted, "{on_failure:?}: {}", response.body);
        // What no role gives is rejected either way.
        let response = bob.get("/api/v1/namespaces/default/secrets").await;
        assert_eq!(response.code, 500, "{on_failure:?}: {}", response.body);
        // The webhook is not called for administrators.
        assert_eq!(admin.get("/api/v1/namespaces/default/pods").await.code, 200);
    }
}
