//! Operators that crash, and two operators at once.

use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use mydaemonset::{MyDaemonSet, operator};

use crate::set::{available, change_image, node_of, rolled_out, sample, with_image};

#[kubewright_testing::test(nodes = 3)]
async fn operator_killed_after_any_write_resumes_after_a_restart(cluster: Cluster) {
    cluster.run(operator).await;
    let first = cluster.inject(Fault::crash());
    cluster.apply(sample()).await;
    cluster.wait_for_fault(&first).await;
    cluster.restart_operator().await;
    available(&cluster, 3).await;
    // A roll-out has a delete, a create and some writes of the status for each node.
    for (writes, tag) in (0..6).zip(["3.9", "3.8"].iter().cycle()) {
        let crash = cluster.inject(Fault::crash().after(writes));
        change_image(&cluster, tag).await;
        cluster.wait_for_fault(&crash).await;
        cluster.restart_operator().await;
        cluster
            .eventually("the new image on each node", async |c| {
                let new = with_image(c, tag).await.len();
                new == 3 && c.list::<Pod>().await.len() == 3
            })
            .await;
        available(&cluster, 3).await;
    }
}

#[kubewright_testing::test(nodes = 3)]
async fn two_operators_at_once_create_one_pod_per_node(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.run(operator).await;
    rolled_out(&cluster, 3).await;
    change_image(&cluster, "3.9").await;
    cluster
        .eventually("the new image on each node once", async |c| {
            let mut nodes: Vec<String> = with_image(c, "3.9").await.iter().map(node_name).collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes.len() == 3 && c.list::<Pod>().await.len() == 3
        })
        .await;
}

fn node_name(pod: &Pod) -> String {
    node_of(pod).to_owned()
}

#[kubewright_testing::test(nodes = 2)]
async fn orphaned_pods_are_not_adopted(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let orphan = kube::api::DeleteParams {
        propagation_policy: Some(kube::api::PropagationPolicy::Orphan),
        ..Default::default()
    };
    let sets: kube::Api<MyDaemonSet> = kube::Api::namespaced(cluster.client(), cluster.namespace());
    sets.delete("sample", &orphan)
        .await
        .expect("the set is deleted");
    cluster
        .eventually("pods without an owner", async |c| {
            let pods = c.list::<Pod>().await;
            let orphans = pods.iter().filter(|pod| pod.owner_references().is_empty());
            orphans.count() == 2
        })
        .await;
    // The set exists until all Pods are orphaned; an apply before that would change the old set.
    cluster
        .eventually("the set to be gone", async |_| {
            matches!(sets.get_opt("sample").await, Ok(None))
        })
        .await;
    cluster.apply(sample()).await;
    available(&cluster, 2).await;
    assert_eq!(cluster.list::<Pod>().await.len(), 4);
}
