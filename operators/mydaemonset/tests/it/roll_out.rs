//! Roll-outs of a changed spec.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{available, change_image, node_of, pod_on, sample_with, status, with_image};

/// Runs the operator with a set of these fields until each node has an available Pod.
async fn rolled_out_with(cluster: &Cluster, options: serde_json::Value, nodes: i32) {
    cluster.run(operator).await;
    cluster.apply(sample_with(&options)).await;
    available(cluster, nodes).await;
}

#[kubewright_testing::test(nodes = 3)]
async fn unavailable_new_pod_stops_the_roll_out(cluster: Cluster) {
    rolled_out_with(&cluster, json!({"minReadySeconds": 2}), 3).await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("the first new pod to be ready", async |c| {
            let new = with_image(c, "3.9").await;
            new.len() == 1 && status(c).await.ready_replicas == 3
        })
        .await;
    let unready = with_image(&cluster, "3.9").await.remove(0);
    cluster.set_pod_ready(&unready.name_any(), false).await;
    cluster
        .consistently(Duration::from_secs(5), "two old pods", async |c| {
            with_image(c, "3.10").await.len() == 2
        })
        .await;
    let conditions = status(&cluster).await.conditions;
    let progressing = conditions
        .iter()
        .find(|condition| condition.type_ == "Progressing")
        .map(|condition| condition.status.as_str());
    assert_eq!(progressing, Some("True"));
    cluster.set_pod_ready(&unready.name_any(), true).await;
    cluster
        .eventually("the new image on all nodes", async |c| {
            with_image(c, "3.9").await.len() == 3
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn image_reverted_during_a_roll_out_keeps_the_pods_not_yet_replaced(cluster: Cluster) {
    rolled_out_with(&cluster, json!({"minReadySeconds": 2}), 2).await;
    let before: Vec<_> = cluster.list::<Pod>().await.iter().map(Pod::uid).collect();
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("the first new pod", async |c| {
            with_image(c, "3.9").await.len() == 1
        })
        .await;
    change_image(&cluster, "3.10").await;
    cluster
        .eventually("the old image on both nodes", async |c| {
            let status = status(c).await;
            with_image(c, "3.10").await.len() == 2 && status.updated_replicas == 2
        })
        .await;
    available(&cluster, 2).await;
    let after: Vec<_> = cluster.list::<Pod>().await.iter().map(Pod::uid).collect();
    let kept = before.iter().filter(|uid| after.contains(uid)).count();
    assert_eq!(kept, 1, "the Pod that was not replaced is kept");
}

#[kubewright_testing::test(nodes = 2)]
async fn with_surge_no_node_is_ever_without_a_pod(cluster: Cluster) {
    let surge = json!({"updateStrategy": {"maxSurge": "50%"}, "minReadySeconds": 1});
    rolled_out_with(&cluster, surge, 2).await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("both images on one node", async |c| {
            c.list::<Pod>().await.len() == 3
        })
        .await;
    cluster
        .eventually("the new image on both nodes", async |c| {
            let pods = c.list::<Pod>().await;
            let mut nodes: Vec<&str> = pods
                .iter()
                .map(node_of)
                .filter(|node| !node.is_empty())
                .collect();
            nodes.dedup();
            assert!(pods.len() >= 2, "a node without a pod: {nodes:?}");
            with_image(c, "3.9").await.len() == 2 && pods.len() == 2
        })
        .await;
    available(&cluster, 2).await;
}

#[kubewright_testing::test(nodes = 3)]
async fn max_unavailable_lets_several_nodes_change_at_once(cluster: Cluster) {
    let options = json!({"updateStrategy": {"maxUnavailable": 2}, "minReadySeconds": 2});
    rolled_out_with(&cluster, options, 3).await;
    let before = pod_on(&cluster, "node-1").await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("two new pods beside an old one", async |c| {
            with_image(c, "3.9").await.len() == 2 && with_image(c, "3.10").await.len() == 1
        })
        .await;
    cluster
        .eventually("the new image on all nodes", async |c| {
            with_image(c, "3.9").await.len() == 3
        })
        .await;
    available(&cluster, 3).await;
    let after = pod_on(&cluster, "node-1").await;
    assert_ne!(before.uid(), after.uid());
    let faster = json!({"spec": {"minReadySeconds": 1}});
    cluster.patch::<MyDaemonSet>("sample", faster).await;
    cluster
        .eventually("the generation is observed", async |c| {
            status(c).await.observed_generation == 3
        })
        .await;
    assert_eq!(pod_on(&cluster, "node-1").await.uid(), after.uid());
}
