//! What the API server refuses, forgets or does not answer.

use k8s_openapi::api::events::v1::Event as StoredEvent;
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{available, node_of, pod_on, rolled_out, sample, status};

/// Loses the Pod of a node while `fault` happens, and waits for the next one.
async fn survives(cluster: &Cluster, fault: Fault) {
    let lost = pod_on(cluster, "node-1").await;
    let fault = cluster.inject(fault);
    cluster.delete::<Pod>(&lost.name_any()).await;
    cluster.met(&fault).await;
    cluster
        .eventually(format!("a pod after {fault}"), async |c| {
            let pods = c.list::<Pod>().await;
            let next = pods.iter().find(|pod| node_of(pod) == "node-1");
            pods.len() == 2 && next.is_some_and(|pod| pod.uid() != lost.uid())
        })
        .await;
    available(cluster, 2).await;
}

#[kubewright_testing::test(nodes = 2)]
async fn a_pod_that_is_refused_is_made_later(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    for fault in [
        Fault::conflict(),
        Fault::quota_exceeded(),
        Fault::invalid(),
        Fault::server_error(),
        Fault::too_many_requests(1),
        Fault::unreachable(),
    ] {
        survives(&cluster, fault.on(Verb::Patch, "pods")).await;
    }
}

#[kubewright_testing::test(nodes = 2)]
async fn a_pod_whose_answer_was_lost_is_not_made_twice(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    survives(&cluster, Fault::lost_answer().on(Verb::Patch, "pods")).await;
}

#[kubewright_testing::test(nodes = 2)]
async fn a_status_that_is_refused_is_written_later(cluster: Cluster) {
    let conflict = Fault::conflict().on(Verb::Patch, "mydaemonsets/status");
    let conflict = cluster.inject(conflict.times(2));
    rolled_out(&cluster, 2).await;
    assert_eq!(conflict.met(), 2);
}

#[kubewright_testing::test(nodes = 3)]
async fn the_generation_is_observed_only_when_all_was_done(cluster: Cluster) {
    let quota = Fault::quota_exceeded().on(Verb::Patch, "pods").after(1);
    let quota = cluster.inject(quota.times(8));
    cluster.run(operator).await;
    cluster.apply(sample()).await;
    cluster
        .eventually("a status of a half done set", async |c| {
            let status = status(c).await;
            status.desired_replicas == 3 && status.observed_generation == 0
        })
        .await;
    cluster.met(&quota).await;
    available(&cluster, 3).await;
    assert_eq!(status(&cluster).await.observed_generation, 1);
}

#[kubewright_testing::test(nodes = 2)]
async fn a_watch_that_expires_or_breaks_is_begun_again(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster.expire_watches("pods");
    cluster.cut_watches("nodes");
    let expired = cluster.inject(Fault::expired().on(Verb::Watch, "nodes"));
    cluster.add_node("node-3").await;
    cluster.met(&expired).await;
    available(&cluster, 3).await;
    cluster.expire_watches("nodes");
    cluster.cut_watches("pods");
    let lost = pod_on(&cluster, "node-3").await;
    cluster.delete::<Pod>(&lost.name_any()).await;
    cluster
        .eventually("another pod on node-3", async |c| {
            let pods = c.list::<Pod>().await;
            let next = pods.iter().find(|pod| node_of(pod) == "node-3");
            next.is_some_and(|pod| pod.uid() != lost.uid())
        })
        .await;
}

#[kubewright_testing::test(nodes = 2)]
async fn a_cache_that_lags_makes_no_second_pod(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    let down = cluster.inject(Fault::unreachable().on(Verb::Watch, "pods").times(3));
    cluster.cut_watches("pods");
    cluster.met(&down).await;
    cluster.add_node("node-3").await;
    cluster
        .eventually("a third pod", async |c| c.list::<Pod>().await.len() == 3)
        .await;
    // It runs again, and what it has just made has not come back by the watch.
    let labels = json!({"metadata": {"labels": {"touched": "yes"}}});
    cluster.patch::<MyDaemonSet>("sample", labels).await;
    available(&cluster, 3).await;
    assert_eq!(cluster.list::<Pod>().await.len(), 3);
    let made = cluster.writes().into_iter();
    assert_eq!(
        made.filter(|write| write.starts_with("patch pods "))
            .count(),
        3
    );
}

#[kubewright_testing::test(nodes = 1)]
async fn what_happened_is_told_in_events(cluster: Cluster) {
    let quota = cluster.inject(Fault::quota_exceeded().on(Verb::Patch, "pods"));
    rolled_out(&cluster, 1).await;
    cluster.met(&quota).await;
    let failed = pod_on(&cluster, "node-1").await.name_any();
    cluster.fail_pod(&failed, "Evicted").await;
    let told = async |c: &Cluster, kind: &str, reason: &str| {
        let events = c.list::<StoredEvent>().await;
        let mut events = events.into_iter().filter(|event| {
            let regarding = event.regarding.as_ref();
            regarding.and_then(|one| one.kind.as_deref()) == Some("MyDaemonSet")
        });
        events.any(|event| {
            event.reason.as_deref() == Some(reason) && event.type_.as_deref() == Some(kind)
        })
    };
    for (kind, reason) in [
        ("Warning", "FailedCreate"),
        ("Normal", "SuccessfulCreate"),
        ("Warning", "FailedDaemonPod"),
    ] {
        cluster
            .eventually(reason, async |c| told(c, kind, reason).await)
            .await;
    }
}
