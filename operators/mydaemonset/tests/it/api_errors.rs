//! An API server that rejects writes, loses responses, or ends watches.

use k8s_openapi::api::events::v1::Event as StoredEvent;
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{available, node_of, pod_on, rolled_out, sample, status};

/// Deletes the Pod of a node, lets `fault` hit its replacement, and waits for the new Pod.
async fn is_replaced_despite(cluster: &Cluster, fault: Fault) {
    let deleted = pod_on(cluster, "node-1").await;
    let fault = cluster.inject(fault);
    cluster.delete::<Pod>(&deleted.name_any()).await;
    cluster.wait_for_fault(&fault).await;
    cluster
        .eventually(format!("a pod after {fault}"), async |c| {
            let pods = c.list::<Pod>().await;
            let next = pods.iter().find(|pod| node_of(pod) == "node-1");
            pods.len() == 2 && next.is_some_and(|pod| pod.uid() != deleted.uid())
        })
        .await;
    available(cluster, 2).await;
}

#[kubewright_testing::test(nodes = 2)]
async fn rejected_creation_of_a_pod_is_retried(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    for fault in [
        Fault::conflict(),
        Fault::quota_exceeded(),
        Fault::invalid(),
        Fault::server_error(),
        Fault::too_many_requests(1),
        Fault::unreachable(),
    ] {
        is_replaced_despite(&cluster, fault.on(Verb::Patch, "pods")).await;
    }
}

#[kubewright_testing::test(nodes = 2)]
async fn pod_is_not_created_twice_after_a_lost_response(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    is_replaced_despite(&cluster, Fault::lost_response().on(Verb::Patch, "pods")).await;
}

#[kubewright_testing::test(nodes = 2)]
async fn rejected_status_update_is_retried(cluster: Cluster) {
    let conflict = Fault::conflict().on(Verb::Patch, "mydaemonsets/status");
    let conflict = cluster.inject(conflict.times(2));
    rolled_out(&cluster, 2).await;
    assert_eq!(conflict.count(), 2);
}

#[kubewright_testing::test(nodes = 3)]
async fn generation_is_observed_only_when_all_pods_were_created(cluster: Cluster) {
    let quota = Fault::quota_exceeded().on(Verb::Patch, "pods").after(1);
    let quota = cluster.inject(quota.times(8));
    cluster.run(operator).await;
    cluster.apply(sample()).await;
    cluster
        .eventually("a status of a partly reconciled set", async |c| {
            let status = status(c).await;
            status.desired_replicas == 3 && status.observed_generation == 0
        })
        .await;
    cluster.wait_for_fault(&quota).await;
    available(&cluster, 3).await;
    assert_eq!(status(&cluster).await.observed_generation, 1);
}

#[kubewright_testing::test(nodes = 2)]
async fn expired_and_broken_watches_are_reopened(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster.expire_watches("pods");
    cluster.cut_watches("nodes");
    let expired = cluster.inject(Fault::expired().on(Verb::Watch, "nodes"));
    cluster.add_node("node-3").await;
    cluster.wait_for_fault(&expired).await;
    available(&cluster, 3).await;
    cluster.expire_watches("nodes");
    cluster.cut_watches("pods");
    let deleted = pod_on(&cluster, "node-3").await;
    cluster.delete::<Pod>(&deleted.name_any()).await;
    cluster
        .eventually("a new pod on node-3", async |c| {
            let pods = c.list::<Pod>().await;
            let next = pods.iter().find(|pod| node_of(pod) == "node-3");
            next.is_some_and(|pod| pod.uid() != deleted.uid())
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn stale_cache_causes_no_second_pod(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let down = cluster.inject(Fault::unreachable().on(Verb::Watch, "pods").times(3));
    cluster.cut_watches("pods");
    cluster.wait_for_fault(&down).await;
    cluster.add_node("node-3").await;
    cluster
        .eventually("a third pod", async |c| c.list::<Pod>().await.len() == 3)
        .await;
    // Starts another reconcile while the watch has not yet delivered the new Pod.
    let labels = json!({"metadata": {"labels": {"touched": "yes"}}});
    cluster.patch::<MyDaemonSet>("sample", labels).await;
    available(&cluster, 3).await;
    assert_eq!(cluster.list::<Pod>().await.len(), 3);
    let writes = cluster.writes();
    let creations = writes
        .iter()
        .filter(|write| write.starts_with("patch pods "));
    assert_eq!(creations.count(), 3);
}

#[kubewright_testing::test(nodes = 1)]
async fn events_report_created_and_failed_pods(cluster: Cluster) {
    let quota = cluster.inject(Fault::quota_exceeded().on(Verb::Patch, "pods"));
    rolled_out(&cluster, 1).await;
    cluster.wait_for_fault(&quota).await;
    let failed = pod_on(&cluster, "node-1").await.name_any();
    cluster.fail_pod(&failed, "Evicted").await;
    let is_reported = async |c: &Cluster, type_: &str, reason: &str| {
        c.list::<StoredEvent>().await.into_iter().any(|event| {
            let regarding = event.regarding.unwrap_or_default();
            regarding.kind.as_deref() == Some("MyDaemonSet")
                && event.reason.as_deref() == Some(reason)
                && event.type_.as_deref() == Some(type_)
        })
    };
    for (type_, reason) in [
        ("Warning", "FailedCreate"),
        ("Normal", "SuccessfulCreate"),
        ("Warning", "FailedDaemonPod"),
    ] {
        cluster
            .eventually(reason, async |c| is_reported(c, type_, reason).await)
            .await;
    }
}
