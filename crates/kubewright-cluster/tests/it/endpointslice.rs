//! The EndpointSlice controller.

use kubewright_cluster::PodSelector;
use serde_json::json;

use crate::deployment::{DEPLOYMENTS, start};

const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

#[tokio::test(start_paused = true)]
async fn endpoint_slices_follow_the_pods_of_a_service() {
    let cluster = start(2).await;
    let service = json!({
        "metadata": {"name": "web", "labels": {"team": "a"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
    });
    cluster
        .admin
        .post("/api/v1/namespaces/default/services", &service)
        .await
        .ok();
    let addresses = async || -> Vec<String> {
        let slices = cluster.admin.list(SLICES).await;
        let endpoints = slices
            .iter()
            .flat_map(|slice| slice["endpoints"].as_array());
        endpoints
            .flatten()
            .filter(|endpoint| endpoint["conditions"]["ready"] == true)
            .map(|endpoint| endpoint["addresses"][0].as_str().unwrap().to_owned())
            .collect()
    };
    cluster
        .eventually("two addresses", async || addresses().await.len() == 2)
        .await;
    let slice = cluster.admin.list(SLICES).await[0].clone();
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
    cluster
        .admin
        .patch(&format!("{DEPLOYMENTS}/web"), &change)
        .await
        .ok();
    cluster
        .eventually("three addresses", async || addresses().await.len() == 3)
        .await;
    cluster.cluster.pods().never_ready(PodSelector::all());
    cluster
        .eventually("none is ready", async || addresses().await.is_empty())
        .await;
    cluster
        .admin
        .delete("/api/v1/namespaces/default/services/web")
        .await
        .ok();
    cluster
        .eventually("the slices are deleted", async || {
            cluster.admin.list(SLICES).await.is_empty()
        })
        .await;
    cluster.stop().await;
}
