use std::time::Duration;

use kubewright_cluster::{PodSelector, node};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::world::World;

const PODS: &str = "/api/v1/namespaces/default/pods";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions
        .find(|one| one["type"] == kind)
        .unwrap_or(&Value::Null)
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_node_renews_its_lease_and_reports_now_and_then() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    let lease = async || world.admin.get(&format!("{LEASES}/n1")).await.body;
    world
        .eventually("a lease", async || {
            lease().await["spec"]["holderIdentity"] == "n1"
        })
        .await;
    world.settle().await;
    let first = lease().await;
    assert_eq!(first["spec"]["leaseDurationSeconds"], 40);
    assert_eq!(first["metadata"]["ownerReferences"][0]["kind"], "Node");
    let before = world.server.store().revision().number();
    sleep(Duration::from_secs(301)).await;
    // Thirty renewals and one report; nothing else happens.
    assert_eq!(world.server.store().revision().number() - before, 31);
    assert_eq!(
        lease().await["spec"]["renewTime"],
        "2026-01-01T00:05:00.000000Z"
    );
    let node = world.admin.get("/api/v1/nodes/n1").await.body;
    assert_eq!(
        condition(&node, "Ready")["lastHeartbeatTime"],
        "2026-01-01T00:05:00Z"
    );
    assert_eq!(
        condition(&node, "Ready")["lastTransitionTime"],
        "2026-01-01T00:00:00Z"
    );
    world.admin.delete("/api/v1/nodes/n1").await.ok();
    world
        .eventually("the lease goes", async || lease().await["kind"] == "Status")
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_node_is_given_up_and_its_pods_go_when_they_tolerate_it_no_longer() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    let patient = json!({"tolerations": [{
        "key": "node.kubernetes.io/unreachable", "operator": "Exists",
        "effect": "NoExecute", "tolerationSeconds": 60,
    }]});
    world.add_pod("p", patient).await;
    world
        .eventually("it runs", async || {
            phase(&world.pod("p").await) == "Running"
        })
        .await;
    sleep(Duration::from_secs(100)).await;
    let begin = Instant::now();
    world.cluster.nodes().stop("n1");
    let node = async || world.admin.get("/api/v1/nodes/n1").await.body;
    world
        .eventually("nobody knows", async || {
            condition(&node().await, "Ready")["status"] == "Unknown"
        })
        .await;
    let silence = begin.elapsed().as_secs();
    assert!((40..=50).contains(&silence), "{silence}");
    world
        .eventually("it is tainted", async || {
            node().await["spec"]["taints"]
                .as_array()
                .is_some_and(|taints| taints.len() == 2)
        })
        .await;
    world
        .eventually("the pod is not ready", async || {
            condition(&world.pod("p").await, "Ready")["status"] == "False"
        })
        .await;
    world
        .eventually("the pod is told to go", async || {
            world.pod("p").await["metadata"]
                .get("deletionTimestamp")
                .is_some()
        })
        .await;
    assert_eq!(begin.elapsed().as_secs(), silence + 60);
    assert_eq!(
        condition(&world.pod("p").await, "DisruptionTarget")["reason"],
        "DeletionByTaintManager"
    );
    // Its kubelet is silent: only when it is back does the Pod end.
    sleep(Duration::from_secs(100)).await;
    assert_eq!(world.admin.list(PODS).await.len(), 1);
    world.cluster.nodes().start("n1");
    world
        .eventually("the pod is gone", async || {
            world.admin.list(PODS).await.is_empty()
        })
        .await;
    world
        .eventually("the node is well", async || {
            let node = node().await;
            condition(&node, "Ready")["status"] == "True" && node["spec"]["taints"] == Value::Null
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_takes_as_much_as_it_has() {
    let world = World::new();
    let mut gpu = node("n1");
    for field in ["allocatable", "capacity"] {
        gpu["status"][field]["example.com/gpu"] = "1".into();
    }
    world.admin.post("/api/v1/nodes", &gpu).await.ok();
    let pod = |name: &str| {
        json!({"metadata": {"name": name}, "spec": {"containers": [{
            "name": "app", "image": "a:1",
            "resources": {
                "requests": {"example.com/gpu": "1", "cpu": "2"}, "limits": {"example.com/gpu": "1"},
            },
        }]}})
    };
    world.admin.post(PODS, &pod("a")).await.ok();
    world
        .eventually("one runs", async || {
            phase(&world.pod("a").await) == "Running"
        })
        .await;
    world.admin.post(PODS, &pod("b")).await.ok();
    let message = async || condition(&world.pod("b").await, "PodScheduled")["message"].clone();
    let wanted = "0/1 nodes are available: 1 Insufficient example.com/gpu. no new claims to \
         deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for \
         incoming pod.";
    world
        .eventually("the other waits", async || message().await == wanted)
        .await;
    let events = world.admin.list("/api/v1/namespaces/default/events").await;
    let failed = events
        .iter()
        .find(|event| event["reason"] == "FailedScheduling")
        .unwrap();
    assert_eq!(failed["message"], wanted);
    assert_eq!(failed["involvedObject"]["name"], "b");
    world.admin.delete(&format!("{PODS}/a")).await.ok();
    world
        .eventually("the other runs", async || {
            phase(&world.pod("b").await) == "Running"
        })
        .await;
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn pods_do_what_they_are_ordered_to() {
    let world = World::new();
    world.add_nodes(&["n1"]).await;
    let control = world.cluster.pods();
    let named = |name: &str| PodSelector::all().named(name);
    control.hold(named("held"));
    control.never_ready(named("unready"));
    control.fail(named("failed"), "Evicted");
    control.crash_loop(named("crashing"));
    control.complete(named("done"));
    for name in ["held", "unready", "failed", "crashing"] {
        world.add_pod(name, json!({})).await;
    }
    world
        .add_pod("done", json!({"restartPolicy": "Never"}))
        .await;
    world.settle().await;
    assert_eq!(phase(&world.pod("held").await), "Pending");
    assert_eq!(phase(&world.pod("failed").await), "Failed");
    assert_eq!(world.pod("failed").await["status"]["reason"], "Evicted");
    assert_eq!(phase(&world.pod("done").await), "Succeeded");
    let unready = world.pod("unready").await;
    assert_eq!(phase(&unready), "Running");
    assert_eq!(condition(&unready, "Ready")["reason"], "ContainersNotReady");
    let restarts = async || {
        world.pod("crashing").await["status"]["containerStatuses"][0]["restartCount"].clone()
    };
    assert_eq!(restarts().await, 1);
    // Ten seconds, then twenty.
    sleep(Duration::from_secs(31)).await;
    assert_eq!(restarts().await, 3);
    control.release_all();
    world
        .eventually("all that can run do", async || {
            let mut are_ready = true;
            for name in ["held", "unready", "crashing"] {
                are_ready &= condition(&world.pod(name).await, "Ready")["status"] == "True";
            }
            are_ready
        })
        .await;
    control.linger(named("held"));
    world.admin.delete(&format!("{PODS}/held")).await.ok();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(phase(&world.pod("held").await), "Running");
    control.release(named("held"));
    world
        .eventually("it goes", async || {
            world.pod("held").await["kind"] == "Status"
        })
        .await;
    world.stop().await;
}
