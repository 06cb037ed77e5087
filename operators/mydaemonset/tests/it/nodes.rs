//! Nodes that are relabeled, cordoned, tainted, or not ready.

use k8s_openapi::api::core::v1::Node;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{available, change_image, node_of, pod_on, rolled_out, sample_with, with_image};

#[kubewright_testing::test(nodes = 2)]
async fn node_runs_a_pod_while_the_selector_matches_its_labels(cluster: Cluster) {
    cluster.run(operator).await;
    let selected = json!({"nodeSelector": {"disk": "ssd"}});
    cluster.apply(sample_with(&selected)).await;
    let ssd = json!({"metadata": {"labels": {"disk": "ssd"}}});
    cluster.patch::<Node>("node-2", ssd).await;
    cluster
        .eventually("a pod on node-2 alone", async |c| {
            let pods = c.list::<Pod>().await;
            pods.len() == 1 && pods.iter().all(|pod| node_of(pod) == "node-2")
        })
        .await;
    available(&cluster, 1).await;
    let none = json!({"metadata": {"labels": {"disk": null}}});
    cluster.patch::<Node>("node-2", none).await;
    cluster
        .eventually("no pod", async |c| c.list::<Pod>().await.is_empty())
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn deleted_pod_on_a_cordoned_node_is_replaced(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let cordon = json!({"spec": {"unschedulable": true}});
    cluster.patch::<Node>("node-1", cordon).await;
    let lost = pod_on(&cluster, "node-1").await;
    cluster.delete::<Pod>(&lost.name_any()).await;
    cluster
        .eventually("a new pod on the cordoned node", async |c| {
            let pods = c.list::<Pod>().await;
            let next = pods.iter().find(|pod| node_of(pod) == "node-1");
            next.is_some_and(|pod| pod.uid() != lost.uid())
        })
        .await;
    available(&cluster, 2).await;
}

#[kubewright_testing::test(nodes = 2)]
async fn pod_is_deleted_from_a_node_with_an_untolerated_taint(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let taint = json!({"spec": {"taints": [{"key": "gpu", "effect": "NoExecute"}]}});
    cluster.patch::<Node>("node-1", taint).await;
    cluster
        .eventually("a pod on node-2 alone", async |c| {
            let pods = c.list::<Pod>().await;
            pods.len() == 1 && pods.iter().all(|pod| node_of(pod) == "node-2")
        })
        .await;
    available(&cluster, 1).await;
    let tolerations = json!([{"key": "gpu", "operator": "Exists"}]);
    let tolerant = json!({"spec": {"tolerations": tolerations}});
    cluster.patch::<MyDaemonSet>("sample", tolerant).await;
    available(&cluster, 2).await;
}

#[kubewright_testing::test(nodes = 3)]
async fn unavailable_pod_counts_against_max_unavailable_and_is_replaced_first(cluster: Cluster) {
    cluster.run(operator).await;
    cluster
        .apply(sample_with(&json!({"minReadySeconds": 2})))
        .await;
    available(&cluster, 3).await;
    let down = pod_on(&cluster, "node-2").await.name_any();
    cluster.set_pod_ready(&down, false).await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("the first new pod", async |c| {
            !with_image(c, "3.9").await.is_empty()
        })
        .await;
    let new = with_image(&cluster, "3.9").await;
    let nodes: Vec<&str> = new
        .iter()
        .map(node_of)
        .filter(|node| !node.is_empty())
        .collect();
    assert!(nodes.iter().all(|node| *node == "node-2"), "{nodes:?}");
    assert_eq!(new.len(), 1);
    cluster
        .eventually("the new image on all nodes", async |c| {
            with_image(c, "3.9").await.len() == 3
        })
        .await;
    available(&cluster, 3).await;
}
