//! The resource quota controller and the quota admission plugin together.

use serde_json::json;

use crate::test_cluster::TestCluster;

const PODS: &str = "/api/v1/namespaces/default/pods";

/// One quota for Pods without requests, and one for Pods with requests.
#[tokio::test(start_paused = true)]
async fn quota_with_scopes_counts_only_pods_in_them() {
    let cluster = TestCluster::new();
    let quotas = "/api/v1/namespaces/default/resourcequotas";
    for (name, scope) in [
        ("best-effort", "BestEffort"),
        ("burstable", "NotBestEffort"),
    ] {
        let quota = json!({"metadata": {"name": name},
            "spec": {"hard": {"pods": "1"}, "scopes": [scope]}});
        cluster.admin.post(quotas, &quota).await.ok();
    }
    let used = async |name: &str| {
        let quota = cluster.admin.get(&format!("{quotas}/{name}")).await.body;
        quota["status"]["used"]["pods"].clone()
    };
    cluster
        .eventually("both are counted", async || {
            used("best-effort").await == "0" && used("burstable").await == "0"
        })
        .await;
    cluster.add_pod("a", json!({})).await;
    assert_eq!(
        (used("best-effort").await, used("burstable").await),
        (json!("1"), json!("0"))
    );
    let second = json!({"metadata": {"name": "b"},
        "spec": {"containers": [{"name": "app", "image": "a:1"}]}});
    let denied = cluster.admin.post(PODS, &second).await;
    assert_eq!(
        denied.failure(),
        (
            403,
            "pods \"b\" is forbidden: exceeded quota: best-effort, requested: pods=1, used: pods=1, \
             limited: pods=1"
        )
    );
    let mut burstable = second;
    burstable["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1m"}});
    cluster.admin.post(PODS, &burstable).await.ok();
    assert_eq!(used("burstable").await, "1");
    cluster
        .admin
        .delete(&format!("{PODS}/a?gracePeriodSeconds=0"))
        .await
        .ok();
    cluster
        .eventually("the deleted pod is no longer counted", async || {
            used("best-effort").await == "0"
        })
        .await;
    cluster.stop().await;
}
