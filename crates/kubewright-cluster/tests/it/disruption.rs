//! The disruption controller.

use serde_json::{Value, json};

use crate::deployment::{DEPLOYMENTS, start};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

#[tokio::test(start_paused = true)]
async fn budget_counts_how_many_pods_may_be_evicted() {
    let cluster = start(3).await;
    let budget = |mut spec: Value| {
        spec["selector"] = json!({"matchLabels": {"app": "web"}});
        json!({"metadata": {"name": "b"}, "spec": spec})
    };
    let status = async || cluster.admin.get(&format!("{BUDGETS}/b")).await.body["status"].clone();
    let counts = |status: &Value| {
        [
            "currentHealthy",
            "desiredHealthy",
            "expectedPods",
            "disruptionsAllowed",
        ]
        .map(|field| status[field].as_i64().unwrap_or(-1))
    };
    for (wanted, spec) in [
        ([3, 1, 3, 2], json!({"minAvailable": 1})),
        ([3, 2, 3, 1], json!({"minAvailable": "50%"})),
        ([3, 2, 3, 1], json!({"maxUnavailable": 1})),
        ([3, 4, 3, 0], json!({"minAvailable": 4})),
    ] {
        cluster
            .admin
            .post(BUDGETS, &budget(spec.clone()))
            .await
            .ok();
        cluster
            .eventually(&format!("{wanted:?}"), async || {
                counts(&status().await) == wanted
            })
            .await;
        cluster.admin.delete(&format!("{BUDGETS}/b")).await.ok();
    }
    cluster
        .admin
        .post(BUDGETS, &budget(json!({"minAvailable": 1})))
        .await
        .ok();
    let change = json!({"spec": {"replicas": 1}});
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    cluster
        .eventually("no pod may be evicted", async || {
            counts(&status().await) == [1, 1, 1, 0]
        })
        .await;
    let status = status().await;
    assert_eq!(status["conditions"][0]["reason"], "InsufficientPods");
    cluster.stop().await;
}
