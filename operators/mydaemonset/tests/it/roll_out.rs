//! How a change reaches the Pods.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{available, change_image, node_of, pod_on, sample_with, status, with_image};

/// Runs the operator with a set of these options until each node has an available Pod.
async fn rolled_out_with(cluster: &Cluster, options: serde_json::Value, nodes: i32) {
    cluster.run(operator).await;
    cluster.apply(sample_with(&options)).await;
    available(cluster, nodes).await;
}

#[kubewright_testing::test(nodes = 3)]
async fn a_new_pod_that_never_gets_ready_stops_the_roll_out(cluster: Cluster) {
    rolled_out_with(&cluster, json!({"minReadySeconds": 2}), 3).await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("the first new pod, ready", async |c| {
            let new = with_image(c, "3.9").await;
            new.len() == 1 && status(c).await.ready_replicas == 3
        })
        .await;
    let broken = with_image(&cluster, "3.9").await.remove(0);
    cluster.set_pod_ready(&broken.name_any(), false).await;
    cluster
        .consistently(Duration::from_secs(5), "two old pods", async |c| {
            with_image(c, "3.10").await.len() == 2
        })
        .await;
    let progressing = status(&cluster).await.conditions;
    let progressing = progressing.iter().find(|one| one.type_ == "Progressing");
    assert_eq!(progressing.map(|one| one.status.as_str()), Some("True"));
    cluster.set_pod_ready(&broken.name_any(), true).await;
    cluster
        .eventually("the new image on all nodes", async |c| {
            with_image(c, "3.9").await.len() == 3
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn an_image_edited_on_the_way_and_back_ends_where_it_began(cluster: Cluster) {
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
    assert_eq!(kept, 1, "the Pod that was not reached stays");
}

#[kubewright_testing::test(nodes = 2)]
async fn with_surge_a_node_is_never_without_a_pod(cluster: Cluster) {
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
                .filter(|one| !one.is_empty())
                .collect();
            nodes.dedup();
            assert!(pods.len() >= 2, "a node without a pod: {nodes:?}");
            with_image(c, "3.9").await.len() == 2 && pods.len() == 2
        })
        .await;
    available(&cluster, 2).await;
}

#[kubewright_testing::test(nodes = 3)]
async fn several_nodes_change_at_once_where_the_set_allows_it(cluster: Cluster) {
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
    let patient = json!({"spec": {"minReadySeconds": 1}});
    cluster.patch::<MyDaemonSet>("sample", patient).await;
    cluster
        .eventually("the generation is observed", async |c| {
            status(c).await.observed_generation == 3
        })
        .await;
    assert_eq!(pod_on(&cluster, "node-1").await.uid(), after.uid());
}
