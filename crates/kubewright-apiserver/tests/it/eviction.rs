use kubewright_apiserver::{Server, ServerOptions, User};
use serde_json::{Value, json};

use crate::caller::Caller;

const PODS: &str = "/api/v1/namespaces/default/pods";
const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

/// A running, ready Pod, and a budget with the given status.
async fn guarded(status: Value) -> Caller {
    let server = Server::new(ServerOptions::default());
    let admin = Caller::new(&server, User::admin());
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
        .patch(&format!("{PODS}/p/status"), &running)
        .await
        .ok();
    let budget = json!({
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    });
    admin.post(BUDGETS, &budget).await.ok();
    let path = format!("{BUDGETS}/b/status");
    admin.patch(&path, &json!({"status": status})).await.ok();
    admin
}

fn eviction() -> Value {
    json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})
}

#[tokio::test(start_paused = true)]
async fn a_budget_with_nothing_left_refuses_an_eviction_and_says_why() {
    let admin = guarded(json!({
        "observedGeneration": 1, "disruptionsAllowed": 0, "desiredHealthy": 1,
        "currentHealthy": 1, "expectedPods": 1,
    }))
    .await;
    let answer = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(
        answer.failure(),
        (
            429,
            "Cannot evict pod as it would violate the pod's disruption budget."
        )
    );
    assert_eq!(
        answer.body["details"]["causes"],
        json!([{
            "reason": "DisruptionBudget",
            "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
        }])
    );
}

#[tokio::test(start_paused = true)]
async fn an_eviction_spends_a_disruption_and_deletes_the_pod() {
    let admin = guarded(json!({
        "observedGeneration": 1, "disruptionsAllowed": 1, "desiredHealthy": 0,
        "currentHealthy": 1, "expectedPods": 1,
    }))
    .await;
    let answer = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(
        (answer.code, &answer.body["status"]),
        (201, &json!("Success"))
    );
    assert_eq!(admin.get(&format!("{PODS}/p")).await.code, 404);
    let budget = admin.get(&format!("{BUDGETS}/b")).await.ok();
    assert_eq!(budget["status"]["disruptionsAllowed"], 0);
    assert!(budget["status"]["disruptedPods"]["p"].is_string());
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_was_not_looked_at_yet_refuses_for_now() {
    let admin = guarded(json!({"observedGeneration": 0, "disruptionsAllowed": 1})).await;
    let answer = admin.post(&format!("{PODS}/p/eviction"), &eviction()).await;
    assert_eq!(answer.code, 429);
    assert_eq!(answer.body["details"]["retryAfterSeconds"], 10);
    let mut other = eviction();
    other["metadata"]["name"] = json!("q");
    let answer = admin.post(&format!("{PODS}/p/eviction"), &other).await;
    assert_eq!(
        answer.failure(),
        (400, "name in URL does not match name in Eviction object")
    );
}
