use kubewright_cluster::PodSelector;
use serde_json::{Value, json};

use crate::workloads::{DEPLOYMENTS, start};

const BUDGETS: &str = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

#[tokio::test(start_paused = true)]
async fn a_budget_counts_what_may_be_evicted() {
    let world = start(3).await;
    let budget = |spec: Value| {
        let mut spec = spec;
        spec["selector"] = json!({"matchLabels": {"app": "web"}});
        json!({"metadata": {"name": "b"}, "spec": spec})
    };
    let status = async || world.admin.get(&format!("{BUDGETS}/b")).await.body["status"].clone();
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
        world.admin.post(BUDGETS, &budget(spec.clone())).await.ok();
        world
            .eventually(&format!("{wanted:?}"), async || {
                counts(&status().await) == wanted
            })
            .await;
        world.admin.delete(&format!("{BUDGETS}/b")).await.ok();
    }
    world
        .admin
        .post(BUDGETS, &budget(json!({"minAvailable": 1})))
        .await
        .ok();
    let change = json!({"spec": {"replicas": 1}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    world
        .eventually("nothing may go", async || {
            counts(&status().await) == [1, 1, 1, 0]
        })
        .await;
    let status = status().await;
    assert_eq!(status["conditions"][0]["reason"], "InsufficientPods");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_service_is_reached_at_its_pods() {
    let world = start(2).await;
    let service = json!({
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
    });
    world
        .admin
        .post("/api/v1/namespaces/default/services", &service)
        .await
        .ok();
    let addresses = async || -> Vec<String> {
        let slices = world.admin.list(SLICES).await;
        let endpoints = slices
            .iter()
            .flat_map(|slice| slice["endpoints"].as_array());
        endpoints
            .flatten()
            .filter(|one| one["conditions"]["ready"] == true)
            .map(|one| one["addresses"][0].as_str().unwrap().to_owned())
            .collect()
    };
    world
        .eventually("two addresses", async || addresses().await.len() == 2)
        .await;
    let slice = world.admin.list(SLICES).await[0].clone();
    assert_eq!(
        slice["ports"],
        json!([{"name": "", "port": 8080, "protocol": "TCP"}])
    );
    assert_eq!(
        slice["metadata"]["labels"]["kubernetes.io/service-name"],
        "web"
    );
    assert_eq!(slice["metadata"]["labels"]["team"], "a");
    let change = json!({"spec": {"replicas": 3}});
    world
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    world
        .eventually("three addresses", async || addresses().await.len() == 3)
        .await;
    world.cluster.pods().never_ready(PodSelector::all());
    world
        .eventually("none is ready", async || addresses().await.is_empty())
        .await;
    world
        .admin
        .delete("/api/v1/namespaces/default/services/web")
        .await
        .ok();
    world
        .eventually("the slices go", async || {
            world.admin.list(SLICES).await.is_empty()
        })
        .await;
    world.stop().await;
}
