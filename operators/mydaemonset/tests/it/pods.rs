//! Pods that fail, are evicted, or stay terminating.

use kubewright::prelude::*;
use kubewright_testing::Cluster;

use crate::set::{available, node_of, pod_on, rolled_out};

#[kubewright_testing::test(nodes = 2)]
async fn failed_and_evicted_pods_are_replaced(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    for reason in ["OutOfpods", "Evicted"] {
        let failed = pod_on(&cluster, "node-1").await;
        cluster.fail_pod(&failed.name_any(), reason).await;
        cluster
            .eventually("a new pod on the node", async |c| {
                let pods = c.list::<Pod>().await;
                let next = pods.iter().find(|pod| node_of(pod) == "node-1");
                next.is_some_and(|pod| pod.uid() != failed.uid())
            })
            .await;
        available(&cluster, 2).await;
    }
}

#[kubewright_testing::test(nodes = 1, needs = [VirtualTime])]
async fn replacement_of_failed_pods_is_delayed_by_a_growing_backoff(cluster: Cluster) {
    rolled_out(&cluster, 1).await;
    let mut waits = Vec::new();
    for _ in 0..6 {
        let failed = pod_on(&cluster, "node-1").await;
        let start = cluster.clock().now();
        cluster.fail_pod(&failed.name_any(), "Evicted").await;
        cluster
            .eventually_within(Duration::from_secs(60), "a new pod", async |c| {
                let pods = c.list::<Pod>().await;
                let next = pods.iter().find(|pod| node_of(pod) == "node-1");
                next.is_some_and(|pod| pod.uid() != failed.uid())
            })
            .await;
        available(&cluster, 1).await;
        waits.push(cluster.clock().now().duration_since(start).as_secs());
    }
    assert_eq!(waits, [0, 1, 2, 4, 8, 16]);
}

#[kubewright_testing::test(nodes = 2)]
async fn terminating_pod_is_replaced_only_when_it_is_gone(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let terminating = pod_on(&cluster, "node-1").await;
    let name = terminating.name_any();
    cluster.hold_pod(&name).await;
    cluster.delete::<Pod>(&name).await;
    available_on_one(&cluster).await;
    cluster
        .consistently(Duration::from_secs(2), "no second pod", async |c| {
            c.list::<Pod>().await.len() == 2
        })
        .await;
    cluster.release_pod(&name).await;
    cluster
        .eventually("a new pod of the same name", async |c| {
            let next = c.get::<Pod>(&name).await;
            next.is_some_and(|pod| pod.uid() != terminating.uid())
        })
        .await;
    available(&cluster, 2).await;
}

async fn available_on_one(cluster: &Cluster) {
    cluster
        .eventually("one available node of two", async |c| {
            let status = crate::set::status(c).await;
            (status.available_replicas, status.unavailable_replicas) == (1, 1)
        })
        .await;
}
