//! The scheduler: which node a Pod is bound to, and the message when none fits.

use kubewright_cluster::node;
use serde_json::{Value, json};

use crate::pods::{are_running, is_running, pinned};
use crate::test_cluster::{TestCluster, condition};

const PODS: &str = "/api/v1/namespaces/default/pods";
const HOST: &str = "kubernetes.io/hostname";

/// Creates a Pod of the app `web`.
async fn add(cluster: &TestCluster, name: &str, mut spec: Value) {
    spec["containers"] = json!([{"name": "app", "image": "a:1"}]);
    let metadata = json!({"name": name, "labels": {"app": "web"}});
    let pod = json!({"metadata": metadata, "spec": spec});
    cluster.admin.post(PODS, &pod).await.ok();
}

async fn node_of(cluster: &TestCluster, name: &str) -> String {
    let pod = cluster.pod(name).await;
    pod["spec"]["nodeName"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn message(cluster: &TestCluster, name: &str) -> String {
    let pod = cluster.pod(name).await;
    let message = condition(&pod, "PodScheduled")["message"].as_str();
    message.unwrap_or_default().to_owned()
}

fn web() -> Value {
    json!({"matchLabels": {"app": "web"}})
}

#[tokio::test(start_paused = true)]
async fn pods_with_anti_affinity_get_a_node_each_and_the_third_waits_for_a_node() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1", "n2"]).await;
    let alone = json!({"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": HOST, "labelSelector": web()}]}}});
    for name in ["a", "b", "c"] {
        add(&cluster, name, alone.clone()).await;
    }
    let wanted = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules. no new \
         claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found \
         for incoming pod.";
    cluster
        .eventually("the third waits", async || {
            message(&cluster, "c").await == wanted
        })
        .await;
    let mut nodes = vec![node_of(&cluster, "a").await, node_of(&cluster, "b").await];
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2"]);
    cluster.add_nodes(&["n3"]).await;
    cluster
        .eventually("the third is bound to the new node", async || {
            node_of(&cluster, "c").await == "n3"
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pod_with_affinity_waits_for_the_pod_that_it_selects() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1", "n2"]).await;
    let near = json!({"affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
            [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "db"}}}]}}});
    add(&cluster, "a", near).await;
    cluster
        .eventually("the pod is unschedulable", async || {
            let message = message(&cluster, "a").await;
            message.contains("2 node(s) didn't match pod affinity rules")
        })
        .await;
    let db = json!({"metadata": {"name": "db", "labels": {"app": "db"}},
        "spec": {"nodeName": "n2", "containers": [{"name": "app", "image": "a:1"}]}});
    cluster.admin.post(PODS, &db).await.ok();
    cluster
        .eventually("the pod is bound to the same node", async || {
            node_of(&cluster, "a").await == "n2"
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn topology_spread_counts_zones_not_nodes() {
    let cluster = TestCluster::new();
    for (name, zone) in [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b")] {
        let mut node = node(name);
        node["metadata"]["labels"]["zone"] = zone.into();
        cluster.admin.post("/api/v1/nodes", &node).await.ok();
    }
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": web()}]});
    for index in 0..6 {
        add(&cluster, &format!("p{index}"), spread.clone()).await;
    }
    cluster
        .eventually("all have a node", async || {
            let pods = cluster.admin.list(PODS).await;
            pods.iter().all(|pod| pod["spec"]["nodeName"].is_string())
        })
        .await;
    let pods = cluster.admin.list(PODS).await;
    let in_b = pods.iter().filter(|pod| pod["spec"]["nodeName"] == "b1");
    assert_eq!(in_b.count(), 3);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn unschedulable_pod_reports_why_and_runs_once_a_node_fits() {
    let cluster = TestCluster::new();
    cluster.add_pod("p", pinned("n2")).await;
    let reason = async || condition(&cluster.pod("p").await, "PodScheduled")["message"].clone();
    cluster
        .eventually("no nodes", async || {
            reason().await == "no nodes available to schedule pods"
        })
        .await;
    cluster.add_nodes(&["n1"]).await;
    let wrong_node = "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. \
         no new claims to deallocate, preemption: 0/1 nodes are available: \
         1 Preemption is not helpful for scheduling.";
    cluster
        .eventually("another node", async || reason().await == wrong_node)
        .await;
    let pod = cluster.pod("p").await;
    assert_eq!(condition(&pod, "PodScheduled")["reason"], "Unschedulable");
    assert_eq!(pod["status"]["phase"], "Pending");
    cluster.add_nodes(&["n2"]).await;
    cluster
        .eventually("the pod runs", async || are_running(&cluster, 1))
        .await;
    assert_eq!(cluster.pod("p").await["spec"]["nodeName"], "n2");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cordoned_node_is_tainted_and_takes_only_tolerating_pods() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    let cordon = |is_set: bool| json!({"spec": {"unschedulable": is_set}});
    cluster
        .admin
        .patch("/api/v1/nodes/n1", &cordon(true))
        .await
        .ok();
    cluster.add_pod("p", json!({})).await;
    let toleration = json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"});
    cluster
        .add_pod("q", json!({"tolerations": [toleration]}))
        .await;
    cluster
        .eventually("the tolerating pod runs", async || {
            is_running(&cluster.pod("q").await)
        })
        .await;
    cluster.settle().await;
    let message = condition(&cluster.pod("p").await, "PodScheduled")["message"].to_string();
    assert!(
        message.contains("1 node(s) were unschedulable"),
        "{message}"
    );
    let node = cluster.admin.get("/api/v1/nodes/n1").await.ok();
    assert_eq!(
        node["spec"]["taints"][0]["key"],
        "node.kubernetes.io/unschedulable"
    );
    cluster
        .admin
        .patch("/api/v1/nodes/n1", &cordon(false))
        .await
        .ok();
    cluster
        .eventually("both run", async || are_running(&cluster, 2))
        .await;
    let node = cluster.admin.get("/api/v1/nodes/n1").await.ok();
    assert_eq!(node["spec"]["taints"], Value::Null);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn node_takes_as_many_pods_as_its_capacity() {
    let cluster = TestCluster::new();
    let mut small = node("n1");
    small["status"]["allocatable"]["pods"] = "1".into();
    cluster.admin.post("/api/v1/nodes", &small).await.ok();
    cluster.add_pod("a", json!({})).await;
    cluster.add_pod("b", json!({})).await;
    cluster
        .eventually("one runs", async || is_running(&cluster.pod("a").await))
        .await;
    cluster.settle().await;
    let message = condition(&cluster.pod("b").await, "PodScheduled")["message"].clone();
    assert_eq!(
        message,
        "0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: \
         0/1 nodes are available: 1 No preemption victims found for incoming pod."
    );
    cluster.admin.delete(&format!("{PODS}/a")).await.ok();
    cluster
        .eventually("the other runs", async || {
            is_running(&cluster.pod("b").await)
        })
        .await;
    cluster.stop().await;
}
