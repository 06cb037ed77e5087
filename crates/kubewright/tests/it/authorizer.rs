//! An operator as the authorizer of the API server.

use kubewright::prelude::*;
use kubewright::webhook::{SubjectAccessReviewSpec, Verdict};
use kubewright_testing::{Cluster, User};

async fn decide(review: SubjectAccessReviewSpec) -> Verdict {
    let verb = review
        .resource_attributes
        .map(|attributes| attributes.verb)
        .unwrap_or_default();
    match (review.user.as_str(), verb.as_str()) {
        ("guest", "list") => Verdict::Allowed,
        ("guest", _) => Verdict::denied("guests have read access"),
        _ => Verdict::NoOpinion,
    }
}

fn operator() -> Operator {
    Operator::new("guard").authorizer(decide)
}

/// Sends a request for ConfigMaps as a user, and returns the message of an error.
async fn send(cluster: &Cluster, user: &str, method: &str) -> Result<(), String> {
    let user = User::new(user, Vec::<String>::new());
    let client = cluster.client_for(&user).await.expect("a client");
    let path = format!("/api/v1/namespaces/{}/configmaps", cluster.namespace());
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(br#"{"metadata": {"name": "c"}}"#.to_vec())
        .expect("a request");
    let response: Result<serde_json::Value, kube::Error> = client.request(request).await;
    match response {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(status.message),
        Err(error) => Err(error.to_string()),
    }
}

#[kubewright_testing::test]
async fn authorization_webhook_allows_and_denies_requests(_pooled: Cluster) {
    let builder = Cluster::from_environment().expect("settings");
    let cluster = builder.named("authorizer").authorized_by(operator).start();
    let cluster = cluster.await.expect("a cluster");
    assert_eq!(send(&cluster, "guest", "GET").await, Ok(()));
    let namespace = cluster.namespace().to_owned();
    assert_eq!(
        send(&cluster, "guest", "POST").await,
        Err(format!(
            "configmaps is forbidden: User \"guest\" cannot create resource \"configmaps\" in API \
             group \"\" in the namespace \"{namespace}\": guests have read access"
        ))
    );
    let stranger = send(&cluster, "stranger", "GET").await;
    assert!(stranger.is_err_and(|why| why.contains("cannot list resource")));
    cluster.stop_operator().await;
    let response = send(&cluster, "guest", "GET").await;
    assert!(response.is_err(), "no authorizer allows it");
    cluster.close().await.expect("the cluster ends");
}
