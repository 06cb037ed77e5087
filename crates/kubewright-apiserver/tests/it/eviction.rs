//! Evictions and PodDisruptionBudgets.

use kubewright_apiserver::{Server, ServerOptions};
use serde_json::{Value, json};

use crate::client::Client;

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// A running, ready Pod, and a budget with the given status.
async fn guarded(status: Value) -> Client {
    let server = Server::new(ServerOptions::default());
    let admin = Client::admin(&server);
    let account = json!({"metadata": {"name": "default"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    admin.post(accounts, &account).await;
    let pod = json!({
        "metadata": {"name": "p", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    admin.post(PODS, &pod).await.ok();
    let running = json!({"status": {
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
    }});
    admin
        .merge(&format!("{PODS}/p/status"), &running)
        .await
        .ok();
    let budget = json!({
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    });
    admin.post(BUDGETS, &budget).await.ok();
    let path = format!("{BUDGETS}/b/status");
    admin.merge(&path, &json!({"status": status})).await.ok();
    admin
}

fn eviction() -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
}

#[tokio::test(start_paused = true)]
async fn eviction_without_allowed_disruptions_fails_with_429_and_the_reason() {
    let admin = guarded(json!({
        "observedGeneration": 1, "disruptionsAllowed": 0, "desiredHealthy": 1,
        "currentHealthy": 1, "expectedPods": 1,
    }))
    .await;
    let response = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(
        response.failure(),
        (
            429,
            "Cannot evict pod as it would violate the pod's disruption budget."
        )
    );
    assert_eq!(
        response.body["details"]["causes"],
        json!([{
            "reason": "DisruptionBudget",
            "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
        }])
    );
}

#[tokio::test(start_paused = true)]
async fn eviction_consumes_a_disruption_and_deletes_the_pod() {
    let admin = guarded(json!({
        "observedGeneration": 1, "disruptionsAllowed": 1, "desiredHealthy": 0,
        "currentHealthy": 1, "expectedPods": 1,
    }))
    .await;
    let response = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(
        (response.code, &response.body["status"]),
        (201, &json!("Success"))
    );
    assert_eq!(admin.get(&format!("{PODS}/p")).await.code, 404);
    let budget = admin.get(&format!("{BUDGETS}/b")).await.ok();
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
    assert!(budget["status"]["disruptedPods"]["p"].is_string());
}

#[tokio::test(start_paused = true)]
async fn eviction_before_the_budget_is_observed_fails_with_retry_after() {
    let admin = guarded(json!({"observedGeneration": 0, "disruptionsAllowed": 1})).await;
    let response = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(response.code, 429);
    assert_eq!(response.body["details"]["retryAfterSeconds"], 10);
    let mut other = eviction();
    other["metadata"]["name"] = json!("q");
    let response = admin.post(&format!("{PODS}/p/eviction"), &other).await;
    assert_eq!(
        response.failure(),
        (400, "name in URL does not match name in Eviction object")
    );
}
