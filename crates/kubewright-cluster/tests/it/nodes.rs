//! Nodes: heartbeats, lost nodes, resources, and the behavior of Pods on simulated nodes.

use std::time::Duration;

use kubewright_cluster::{PodSelector, node};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::test_cluster::{TestCluster, condition};

const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn node_renews_its_lease_and_reports_its_status_every_five_minutes() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    let lease = async || cluster.admin.get(&format!("{LEASES}/n1")).await.body;
    cluster
        .eventually("a lease", async || {
            lease().await["spec"]["holderIdentity"] == "n1"
        })
        .await;
    cluster.settle().await;
    let first = lease().await;
    assert_eq!(first["spec"]["leaseDurationSeconds"], 40);
    assert_eq!(first["metadata"]["ownerReferences"][0]["kind"], "Node");
    let before = cluster.server.store().revision().number();
    sleep(Duration::from_secs(301)).await;
    // Thirty renewals and one report, and no other write.
    assert_eq!(cluster.server.store().revision().number() - before, 31);
    assert_eq!(
        lease().await["spec"]["renewTime"],
        "2026-01-01T00:05:00.000000Z"
    );
    let node = cluster.admin.get("/api/v1/nodes/n1").await.body;
    assert_eq!(
        condition(&node, "Ready")["lastHeartbeatTime"],
        "2026-01-01T00:05:00Z"
    );
    assert_eq!(
        condition(&node, "Ready")["lastTransitionTime"],
        "2026-01-01T00:00:00Z"
    );
    cluster.admin.delete("/api/v1/nodes/n1").await.ok();
    cluster
        .eventually("the lease is deleted", async || {
            lease().await["kind"] == "Status"
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn node_without_heartbeats_is_tainted_and_its_pods_are_evicted() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    let tolerating = json!({"tolerations": [{
        "key": "node.kubernetes.io/unreachable", "operator": "Exists",
        "effect": "NoExecute", "tolerationSeconds": 60,
    }]});
    cluster.add_pod("p", tolerating).await;
    cluster
        .eventually("the pod runs", async || {
            phase(&cluster.pod("p").await) == "Running"
        })
        .await;
    sleep(Duration::from_secs(100)).await;
    let start = Instant::now();
    cluster.cluster.nodes().stop("n1");
    let node = async || cluster.admin.get("/api/v1/nodes/n1").await.body;
    cluster
        .eventually("the status is unknown", async || {
            condition(&node().await, "Ready")["status"] == "Unknown"
        })
        .await;
    let detection = start.elapsed().as_secs();
    assert!((40..=50).contains(&detection), "{detection}");
    cluster
        .eventually("the node is tainted", async || {
            node().await["spec"]["taints"]
                .as_array()
                .is_some_and(|taints| taints.len() == 2)
        })
        .await;
    cluster
        .eventually("the pod is not ready", async || {
            condition(&cluster.pod("p").await, "Ready")["status"] == "False"
        })
        .await;
    cluster
        .eventually("the pod is terminating", async || {
            cluster.pod("p").await["metadata"]
                .get("deletionTimestamp")
                .is_some()
        })
        .await;
    assert_eq!(start.elapsed().as_secs(), detection + 60);
    assert_eq!(
        condition(&cluster.pod("p").await, "DisruptionTarget")["reason"],
        "DeletionByTaintManager"
    );
    // The Pod ends only when its kubelet runs again.
    sleep(Duration::from_secs(100)).await;
    assert_eq!(cluster.admin.list(PODS).await.len(), 1);
    cluster.cluster.nodes().start("n1");
    cluster
        .eventually("the pod is deleted", async || {
            cluster.admin.list(PODS).await.is_empty()
        })
        .await;
    cluster
        .eventually("the node is ready", async || {
            let node = node().await;
            condition(&node, "Ready")["status"] == "True" && node["spec"]["taints"] == Value::Null
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn node_takes_pods_until_a_resource_is_used_up() {
    let cluster = TestCluster::new();
    let mut gpu = node("n1");
    for field in ["allocatable", "capacity"] {
        gpu["status"][field]["example.com/gpu"] = "1".into();
    }
    cluster.admin.post("/api/v1/nodes", &gpu).await.ok();
    let pod = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"containers": [{
            "name": "app", "image": "a:1",
            "resources": {
                "requests": {"example.com/gpu": "1", "cpu": "2"}, "limits": {"example.com/gpu": "1"},
            },
        }]}})
    };
    cluster.admin.post(PODS, &pod("a")).await.ok();
    cluster
        .eventually("one runs", async || {
            phase(&cluster.pod("a").await) == "Running"
        })
        .await;
    cluster.admin.post(PODS, &pod("b")).await.ok();
    let message = async || condition(&cluster.pod("b").await, "PodScheduled")["message"].clone();
    let wanted = "0/1 nodes are available: 1 Insufficient example.com/gpu. no new claims to \
         deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for \
         incoming pod.";
    cluster
        .eventually("the other waits", async || message().await == wanted)
        .await;
    let events = cluster
        .admin
        .list("/api/v1/namespaces/default/events")
        .await;
    let failed = events
        .iter()
        .find(|event| event["reason"] == "FailedScheduling")
        .unwrap();
    assert_eq!(failed["message"], wanted);
    assert_eq!(failed["involvedObject"]["name"], "b");
    cluster.admin.delete(&format!("{PODS}/a")).await.ok();
    cluster
        .eventually("the other runs", async || {
            phase(&cluster.pod("b").await) == "Running"
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_behave_as_they_are_set() {
    let cluster = TestCluster::new();
    cluster.add_nodes(&["n1"]).await;
    let control = cluster.cluster.pods();
    let named = |name: &str| PodSelector::all().named(name);
    control.hold(named("held"));
    control.never_ready(named("unready"));
    control.fail(named("failed"), "Evicted");
    control.crash_loop(named("crashing"));
    control.complete(named("done"));
    for name in ["held", "unready", "failed", "crashing"] {
        cluster.add_pod(name, json!({})).await;
    }
    cluster
        .add_pod("done", json!({"restartPolicy": "Never"}))
        .await;
    cluster.settle().await;
    assert_eq!(phase(&cluster.pod("held").await), "Pending");
    assert_eq!(phase(&cluster.pod("failed").await), "Failed");
    assert_eq!(cluster.pod("failed").await["status"]["reason"], "Evicted");
    assert_eq!(phase(&cluster.pod("done").await), "Succeeded");
    let unready = cluster.pod("unready").await;
    assert_eq!(phase(&unready), "Running");
    assert_eq!(condition(&unready, "Ready")["reason"], "ContainersNotReady");
    let restarts = async || {
        cluster.pod("crashing").await["status"]["containerStatuses"][0]["restartCount"].clone()
    };
    assert_eq!(restarts().await, 1);
    // Ten seconds, then twenty.
    sleep(Duration::from_secs(31)).await;
    assert_eq!(restarts().await, 3);
    control.release_all();
    cluster
        .eventually("all are ready after release", async || {
            let mut are_ready = true;
            for name in ["held", "unready", "crashing"] {
                are_ready &= condition(&cluster.pod(name).await, "Ready")["status"] == "True";
            }
            are_ready
        })
        .await;
    control.ignore_termination(named("held"));
    cluster.admin.delete(&format!("{PODS}/held")).await.ok();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(phase(&cluster.pod("held").await), "Running");
    control.release(named("held"));
    cluster
        .eventually("the pod is deleted", async || {
            cluster.pod("held").await["kind"] == "Status"
        })
        .await;
    cluster.stop().await;
}
