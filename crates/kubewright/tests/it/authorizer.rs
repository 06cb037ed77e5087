//! An operator that the API server asks what users may do.

use kubewright::prelude::*;
use kubewright::webhook::{SubjectAccessReviewSpec, Verdict};
use kubewright_testing::{Cluster, User};

async fn decide(attempt: SubjectAccessReviewSpec) -> Verdict {
    let verb = attempt
        .resource_attributes
        .map(|asked| asked.verb)
        .unwrap_or_default();
    match (attempt.user.as_str(), verb.as_str()) {
        ("guest", "list") => Verdict::Allowed,
        ("guest", _) => Verdict::denied("guests only look"),
        _ => Verdict::NoOpinion,
    }
}

fn operator() -> Operator {
    Operator::new("guard").authorizer(decide)
}

/// What a user is told who lists or creates ConfigMaps.
async fn told(cluster: &Cluster, user: &str, method: &str) -> Result<(), String> {
    let user = User::new(user, Vec::<String>::new());
    let client = cluster.client_for(&user).await.expect("a client");
    let path = format!("/api/v1/namespaces/{}/configmaps", cluster.namespace());
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", "application/json")
        .body(br#"{"metadata": {"name": "c"}}"#.to_vec())
        .expect("a request");
    let answer: Result<serde_json::Value, kube::Error> = client.request(request).await;
    match answer {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(status.message),
        Err(error) => Err(error.to_string()),
    }
}

#[kubewright_testing::test]
async fn the_authorization_webhook_decides_a_request(_pooled: Cluster) {
    let builder = Cluster::from_environment().expect("settings");
    let cluster = builder.named("authorizer").authorized_by(operator).start();
    let cluster = cluster.await.expect("a cluster");
    assert_eq!(told(&cluster, "guest", "GET").await, Ok(()));
    let namespace = cluster.namespace().to_owned();
    assert_eq!(
        told(&cluster, "guest", "POST").await,
        Err(format!(
            "configmaps is forbidden: User \"guest\" cannot create resource \"configmaps\" in API \
             group \"\" in the namespace \"{namespace}\": guests only look"
        ))
    );
    let stranger = told(&cluster, "stranger", "GET").await;
    assert!(stranger.is_err_and(|why| why.contains("cannot list resource")));
    cluster.stop_operator().await;
    let nobody = told(&cluster, "guest", "GET").await;
    assert!(nobody.is_err(), "nobody is left who allows it");
    cluster.close().await.expect("the cluster ends");
}
