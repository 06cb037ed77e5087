//! The embedded cluster, and what holds for all clusters.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kubewright_testing::Cluster;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

fn object<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("the object is of its kind")
}

fn map(name: &str) -> ConfigMap {
    object(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name } }))
}

/// The message with which a wait fails while `other` runs.
async fn failure(wait: impl Future<Output = ()>, other: impl Future<Output = ()>) -> String {
    let wait = AssertUnwindSafe(wait).catch_unwind();
    let panic = tokio::select! {
        result = wait => result.expect_err("the wait fails"),
        () = other => panic!("the other future ended"),
    };
    *panic.downcast::<String>().expect("a message")
}

fn pod(node: &str) -> Pod {
    object(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": format!("on-{node}") },
        "spec": { "nodeName": node, "containers": [{ "name": "web", "image": "web:1" }] },
    }))
}

async fn is_running(cluster: &Cluster, name: &str) -> bool {
    let pod = cluster.get::<Pod>(name).await.and_then(|pod| pod.status);
    pod.is_some_and(|status| status.phase.as_deref() == Some("Running"))
}

#[kubewright_testing::test(nodes = 1, needs = [HeldPods])]
async fn pods_of_a_node_are_held_until_they_are_released(cluster: Cluster) {
    cluster.hold_pods_on("node-1");
    cluster.apply(pod("node-1")).await;
    cluster
        .consistently(Duration::from_secs(60), "a Pod that waits", async |c| {
            !is_running(c, "on-node-1").await
        })
        .await;
    cluster.release_pods_on("node-1");
    cluster
        .eventually("a running Pod", async |c| is_running(c, "on-node-1").await)
        .await;
}

// These tests pass on all clusters.

#[kubewright_testing::test(nodes = 2)]
async fn pods_run_on_added_nodes_and_go_with_removed_ones(cluster: Cluster) {
    assert_eq!(cluster.list::<Node>().await.len(), 2);
    cluster.apply(pod("node-1")).await;
    cluster
        .eventually("a running Pod", async |c| is_running(c, "on-node-1").await)
        .await;
    cluster.add_node("late").await;
    cluster.apply(pod("late")).await;
    cluster
        .eventually("a second Pod", async |c| is_running(c, "on-late").await)
        .await;
    cluster.remove_node("late").await;
    cluster
        .eventually("only the first Pod", async |c| {
            let pods = c.list::<Pod>().await;
            pods.len() == 1 && c.list::<Node>().await.len() == 2
        })
        .await;
}

#[kubewright_testing::test]
async fn each_test_has_a_namespace_of_its_own(cluster: Cluster) {
    cluster.create(map("mine")).await;
    let names = async |c: &Cluster| -> Vec<_> {
        let maps = c.list::<ConfigMap>().await;
        let names = maps.into_iter().filter_map(|map| map.metadata.name);
        names.filter(|name| name != "kube-root-ca.crt").collect()
    };
    assert_eq!(names(&cluster).await, ["mine"]);
    assert!(names(&cluster.in_namespace("default")).await.is_empty());
    cluster.delete::<ConfigMap>("mine").await;
    assert!(cluster.get::<ConfigMap>("mine").await.is_none());
    cluster.delete::<ConfigMap>("mine").await;
}

#[kubewright_testing::test]
async fn error_of_a_cluster_without_nodes_says_how_to_get_them(cluster: Cluster) {
    let message = failure(cluster.add_node("one"), std::future::pending()).await;
    assert!(
        message.ends_with(
            "add node one: this cluster was started without nodes; start it with nodes(n)"
        ),
        "{message}"
    );
}

// These tests need virtual time.

#[kubewright_testing::test(needs = [VirtualTime])]
async fn timers_and_clock_advance_together(cluster: Cluster) {
    let (start, before) = (Instant::now(), cluster.clock().now());
    cluster
        .consistently(Duration::from_secs(3600), "no Pod", async |c| {
            c.list::<Pod>().await.is_empty()
        })
        .await;
    assert!(start.elapsed() >= Duration::from_secs(3600));
    let passed = cluster.clock().now().duration_since(before);
    assert!(passed.as_secs() >= 3600, "{passed}");
}

#[kubewright_testing::test(needs = [VirtualTime])]
async fn condition_is_checked_after_a_write_before_time_passes(cluster: Cluster) {
    let start = Instant::now();
    let write = async {
        tokio::task::yield_now().await;
        cluster.create(map("a")).await
    };
    let wait = cluster.eventually("a ConfigMap", async |c| {
        c.get::<ConfigMap>("a").await.is_some()
    });
    tokio::join!(wait, write);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[kubewright_testing::test(needs = [VirtualTime])]
async fn check_that_does_not_return_is_cancelled_at_the_deadline(cluster: Cluster) {
    let start = Instant::now();
    let wait = cluster.eventually_within(Duration::from_secs(9), "a value", async |c| {
        c.get::<ConfigMap>("moon").await;
        std::future::pending().await
    });
    let message = failure(wait, std::future::pending()).await;
    assert!(
        message.contains("waited 9s for a value; the check did not return; last seen: ConfigMap"),
        "{message}"
    );
    assert_eq!(start.elapsed(), Duration::from_secs(9));
}
