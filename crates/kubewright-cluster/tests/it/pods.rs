//! The life of Pods: scheduled, run, restarted, terminated.

use std::time::Duration;

use kubewright_cluster::Controllers;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::test_cluster::{TestCluster, condition};

const PODS: &str = "/api/v1/namespaces/default/pods";

pub(crate) fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running" && condition(pod, "Ready")["status"] == "True"
}

pub(crate) fn are_running(cluster: &TestCluster, count: usize) -> bool {
    let pods = cluster.server.store().list("pods", Some("default"));
    pods.len() == count && pods.iter().all(|pod| is_running(pod.value()))
}

pub(crate) fn pinned(node: &str) -> Value {
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchFields": [field]}]}}}})
}

#[tokio::test(start_paused = true)]
async fn pods_are_spread_over_the_nodes_and_run() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1", "n2", "n3"]).await;
    for name in ["a", "b", "c"] {
        cluster.add_pod(name, json!({})).await;
    }
    cluster
        .eventually("all pods run", async || are_running(&cluster, 3))
        .await;
    let pods = cluster.admin.list(PODS).await;
    let mut nodes: Vec<_> = pods
        .iter()
        .map(|pod| pod["spec"]["nodeName"].as_str().unwrap())
        .collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["n1", "n2", "n3"]);
    let kinds: Vec<_> = pods[0]["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|condition| condition["type"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            "PodReadyToStartContainers",
            "Initialized",
            "Ready",
            "ContainersReady",
            "PodScheduled"
        ]
    );
    assert_eq!(pods[0]["status"]["podIP"], "10.64.0.1");
    assert_eq!(pods[0]["status"]["observedGeneration"], 1);
    let managers: Vec<_> = pods[0]["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["manager"].clone())
        .collect();
    assert!(managers.contains(&json!("kubelet")), "{managers:?}");
    let nodes = cluster.admin.list("/api/v1/nodes").await;
    assert_eq!(condition(&nodes[0], "Ready")["reason"], "KubeletReady");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn changed_image_restarts_the_container() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    cluster.add_pod("p", json!({})).await;
    cluster
        .eventually("the pod runs", async || are_running(&cluster, 1))
        .await;
    let before = cluster.pod("p").await["status"]["containerStatuses"][0].clone();
    let change = json!({"spec": {"containers": [{"name": "app", "image": "a:2"}]}});
    cluster
        .admin
        .patch(&format!("{PODS}/p"), &change)
        .await
        .ok();
    let restarts =
        async || cluster.pod("p").await["status"]["containerStatuses"][0]["restartCount"] == 1;
    cluster.eventually("the container restarts", restarts).await;
    let pod = cluster.pod("p").await;
    let after = &pod["status"]["containerStatuses"][0];
    assert_eq!(after["image"], "a:2");
    assert_ne!(after["imageID"], before["imageID"]);
    assert_eq!(after["lastState"]["terminated"]["reason"], "Completed");
    assert_eq!(pod["status"]["observedGeneration"], 2);
    cluster.settle().await;
    assert_eq!(cluster.pod("p").await, pod);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn deleted_pod_is_terminated_by_its_kubelet() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    cluster.add_pod("p", json!({})).await;
    cluster
        .eventually("the pod runs", async || are_running(&cluster, 1))
        .await;
    let deleted = cluster.admin.delete(&format!("{PODS}/p")).await.ok();
    assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
    cluster
        .eventually("the pod is deleted", async || {
            cluster.admin.list(PODS).await.is_empty()
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_deleted_node_are_deleted_after_40_seconds() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1", "n2"]).await;
    cluster.add_pod("a", pinned("n1")).await;
    cluster.add_pod("b", pinned("n2")).await;
    cluster
        .eventually("both run", async || are_running(&cluster, 2))
        .await;
    let start = Instant::now();
    cluster.admin.delete("/api/v1/nodes/n1").await.ok();
    cluster
        .eventually("one pod is deleted", async || {
            cluster.admin.list(PODS).await.len() == 1
        })
        .await;
    assert_eq!(start.elapsed(), Duration::from_secs(40));
    assert!(is_running(&cluster.pod("b").await));
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn disabled_controller_does_not_run() {
    let cluster = TestCluster::with(Controllers::all().without("kubelet".parse().unwrap()), 1000);
    cluster.add_nodes(&["n1"]).await;
    cluster.add_pod("p", json!({})).await;
    let is_bound = async || cluster.pod("p").await["spec"]["nodeName"] == "n1";
    cluster.eventually("the pod is bound", is_bound).await;
    cluster.settle().await;
    assert_eq!(cluster.pod("p").await["status"]["phase"], "Pending");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn controllers_restart_from_a_snapshot_when_the_log_is_too_short() {
    let cluster = TestCluster::with(Controllers::all(), 2);
    cluster.add_nodes(&["n1", "n2"]).await;
    for name in ["a", "b", "c", "d"] {
        cluster.add_pod(name, json!({})).await;
    }
    cluster
        .eventually("all run", async || are_running(&cluster, 4))
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn each_of_200_pods_costs_three_writes() {
    let cluster = TestCluster::with(Controllers::all().without_events(), 8192);
    cluster.add_nodes(&["n1", "n2", "n3"]).await;
    cluster.settle().await;
    let before = cluster.server.store().revision().number();
    for index in 0..200 {
        cluster.add_pod(&format!("p{index}"), json!({})).await;
    }
    cluster
        .eventually("all run", async || are_running(&cluster, 200))
        .await;
    cluster.settle().await;
    // Created, bound, running.
    assert_eq!(cluster.server.store().revision().number() - before, 3 * 200);
    cluster.stop().await;
}
