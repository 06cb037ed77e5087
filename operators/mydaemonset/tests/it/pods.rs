//! Pods that fail, are evicted, or do not go.

use kubewright::prelude::*;
use kubewright_testing::Cluster;

use crate::set::{available, node_of, pod_on, rolled_out};

#[kubewright_testing::test(nodes = 2)]
async fn a_pod_that_fails_or_is_evicted_is_replaced(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    for reason in ["OutOfpods", "Evicted"] {
        let failed = pod_on(&cluster, "node-1").await;
        cluster.fail_pod(&failed.name_any(), reason).await;
        cluster
            .eventually("another pod in its place", async |c| {
                let pods = c.list::<Pod>().await;
                let next = pods.iter().find(|pod| node_of(pod) == "node-1");
                next.is_some_and(|pod| pod.uid() != failed.uid())
            })
            .await;
        available(&cluster, 2).await;
    }
}

#[kubewright_testing::test(nodes = 1, needs = [VirtualTime])]
async fn a_node_where_pods_fail_gets_new_ones_less_and_less_often(cluster: Cluster) {
    rolled_out(&cluster, 1).await;
    let mut waits = Vec::new();
    for _ in 0..6 {
        let failed = pod_on(&cluster, "node-1").await;
        let start = cluster.clock().now();
        cluster.fail_pod(&failed.name_any(), "Evicted").await;
        cluster
            .eventually_within(Duration::from_secs(60), "another pod", async |c| {
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
async fn a_pod_that_does_not_go_keeps_its_place(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let stuck = pod_on(&cluster, "node-1").await;
    let name = stuck.name_any();
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
        .eventually("another pod of the same name", async |c| {
            let next = c.get::<Pod>(&name).await;
            next.is_some_and(|pod| pod.uid() != stuck.uid())
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
