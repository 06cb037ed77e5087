use std::time::Duration;

use kubewright_cluster::{ControllerName, Controllers};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::world::World;

const PODS: &str = "/api/v1/namespaces/default/pods";

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions
        .find(|one| one["type"] == kind)
        .unwrap_or(&Value::Null)
}

fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running" && condition(pod, "Ready")["status"] == "True"
}

fn are_running(world: &World, count: usize) -> bool {
    let pods = world.server.store().list("pods", Some("default"));
    pods.len() == count && pods.iter().all(|pod| is_running(pod.value()))
}

fn pinned(node: &str) -> Value {
    let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
    json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchFields": [field]}]}}}})
}

#[tokio::test(start_paused = true)]
async fn pods_are_spread_over_the_nodes_and_run() {
    let world = World::new();
    world.add_nodes(&["n1", "n2", "n3"]).await;
    for name in ["a", "b", "c"] {
        world.add_pod(name, json!({})).await;
    }
    world
        .eventually("all pods run", async || are_running(&world, 3))
        .await;
    let pods = world.admin.list(PODS).await;
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
        .map(|one| one["type"].clone())
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
    let owners: Vec<_> = pods[0]["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["manager"].clone())
        .collect();
    assert!(owners.contains(&json!("kubelet")), "{owners:?}");
    let nodes = world.admin.list("/api/v1/nodes").await;
    assert_eq!(condition(&nodes[0], "Ready")["reason"], "KubeletReady");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_nowhere_says_why_and_runs_once_a_node_comes() {
    let world = World::new();
    world.add_pod("p", pinned("n2")).await;
    let reason = async || condition(&world.pod("p").await, "PodScheduled")["message"].clone();
    world
        .eventually("no nodes", async || {
            reason().await == "no nodes available to schedule pods"
        })
        .await;
    world.add_nodes(&["n1"]).await;
    let elsewhere = "0/1 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. \
         no new claims to deallocate, preemption: 0/1 nodes are available: \
         1 Preemption is not helpful for scheduling.";
    world
        .eventually("another node", async || reason().await == elsewhere)
        .await;
    let pod = world.pod("p").await;
    assert_eq!(condition(&pod, "PodScheduled")["reason"], "Unschedulable");
    assert_eq!(pod["status"]["phase"], "Pending");
    world.add_nodes(&["n2"]).await;
    world
        .eventually("the pod runs", async || are_running(&world, 1))
        .await;
    assert_eq!(world.pod("p").await["spec"]["nodeName"], "n2");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cordoned_node_is_tainted_and_takes_only_pods_that_tolerate_it() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    let cordon = |is_set: bool| json!({"spec": {"unschedulable": is_set}});
    world
        .admin
        .patch("/api/v1/nodes/n1", &cordon(true))
        .await
        .ok();
    world.add_pod("p", json!({})).await;
    let toleration = json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists"});
    world
        .add_pod("q", json!({"tolerations": [toleration]}))
        .await;
    world
        .eventually("the tolerant pod runs", async || {
            is_running(&world.pod("q").await)
        })
        .await;
    world.settle().await;
    let message = condition(&world.pod("p").await, "PodScheduled")["message"].to_string();
    assert!(
        message.contains("1 node(s) were unschedulable"),
        "{message}"
    );
    let node = world.admin.get("/api/v1/nodes/n1").await.ok();
    assert_eq!(
        node["spec"]["taints"][0]["key"],
        "node.kubernetes.io/unschedulable"
    );
    world
        .admin
        .patch("/api/v1/nodes/n1", &cordon(false))
        .await
        .ok();
    world
        .eventually("both run", async || are_running(&world, 2))
        .await;
    let node = world.admin.get("/api/v1/nodes/n1").await.ok();
    assert_eq!(node["spec"]["taints"], Value::Null);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_takes_as_many_pods_as_it_has_room_for() {
    let world = World::new();
    let mut small = kubewright_cluster::node("n1");
    small["status"]["allocatable"]["pods"] = "1".into();
    world.admin.post("/api/v1/nodes", &small).await.ok();
    world.add_pod("a", json!({})).await;
    world.add_pod("b", json!({})).await;
    world
        .eventually("one runs", async || is_running(&world.pod("a").await))
        .await;
    world.settle().await;
    let message = condition(&world.pod("b").await, "PodScheduled")["message"].clone();
    assert_eq!(
        message,
        "0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: \
         0/1 nodes are available: 1 No preemption victims found for incoming pod."
    );
    world.admin.delete(&format!("{PODS}/a")).await.ok();
    world
        .eventually("the other runs", async || is_running(&world.pod("b").await))
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_changed_image_restarts_the_container() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    world.add_pod("p", json!({})).await;
    world
        .eventually("the pod runs", async || are_running(&world, 1))
        .await;
    let before = world.pod("p").await["status"]["containerStatuses"][0].clone();
    let change = json!({"spec": {"containers": [{"name": "app", "image": "a:2"}]}});
    world.admin.patch(&format!("{PODS}/p"), &change).await.ok();
    let restarts =
        async || world.pod("p").await["status"]["containerStatuses"][0]["restartCount"] == 1;
    world.eventually("the container restarts", restarts).await;
    let pod = world.pod("p").await;
    let after = &pod["status"]["containerStatuses"][0];
    assert_eq!(after["image"], "a:2");
    assert_ne!(after["imageID"], before["imageID"]);
    assert_eq!(after["lastState"]["terminated"]["reason"], "Completed");
    assert_eq!(pod["status"]["observedGeneration"], 2);
    world.settle().await;
    assert_eq!(world.pod("p").await, pod);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_ended_by_its_kubelet_and_frees_its_address() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    world.add_pod("p", json!({})).await;
    world
        .eventually("the pod runs", async || are_running(&world, 1))
        .await;
    let deleted = world.admin.delete(&format!("{PODS}/p")).await.ok();
    assert_eq!(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
    world
        .eventually("it is gone", async || {
            world.admin.list(PODS).await.is_empty()
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_node_that_is_gone_are_deleted_after_a_while() {
    let world = World::new();
    world.add_nodes(&["n1", "n2"]).await;
    world.add_pod("a", pinned("n1")).await;
    world.add_pod("b", pinned("n2")).await;
    world
        .eventually("both run", async || are_running(&world, 2))
        .await;
    let start = Instant::now();
    world.admin.delete("/api/v1/nodes/n1").await.ok();
    world
        .eventually("one is gone", async || {
            world.admin.list(PODS).await.len() == 1
        })
        .await;
    assert_eq!(start.elapsed(), Duration::from_secs(40));
    assert!(is_running(&world.pod("b").await));
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn controllers_can_be_left_out() {
    let world = World::with(Controllers::all().without(ControllerName::Kubelet), 1000);
    world.add_nodes(&["n1"]).await;
    world.add_pod("p", json!({})).await;
    let is_bound = async || world.pod("p").await["spec"]["nodeName"] == "n1";
    world.eventually("the pod is bound", is_bound).await;
    world.settle().await;
    assert_eq!(world.pod("p").await["status"]["phase"], "Pending");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_log_that_is_too_short_is_made_up_for_by_reading_again() {
    let world = World::with(Controllers::all(), 2);
    world.add_nodes(&["n1", "n2"]).await;
    for name in ["a", "b", "c", "d"] {
        world.add_pod(name, json!({})).await;
    }
    world
        .eventually("all run", async || are_running(&world, 4))
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_costs_three_writes_however_many_there_are() {
    let world = World::with(Controllers::all().without(ControllerName::Events), 8192);
    world.add_nodes(&["n1", "n2", "n3"]).await;
    world.settle().await;
    let before = world.server.store().revision().number();
    for index in 0..200 {
        world.add_pod(&format!("p{index}"), json!({})).await;
    }
    world
        .eventually("all run", async || are_running(&world, 200))
        .await;
    world.settle().await;
    // Created, bound, running.
    assert_eq!(world.server.store().revision().number() - before, 3 * 200);
    world.stop().await;
}
