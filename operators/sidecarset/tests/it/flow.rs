//! The whole way of a set, on both clusters.

use k8s_openapi::api::core::v1::Namespace;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::{HASH_ANNOTATION, INJECTED, SidecarSet, injected, operator, spec_hash};

use crate::refusals::refused;
use crate::world::{
    NEWER, active, change, container, containers, happened, images, is_ready, newer, now, pod,
    reason, running, set, status,
};

/// Create a broken set, see it refused; create the set, see it filled in; create Pods, see them
/// injected; the status counts them; change the image, see them updated one by one.
#[kubewright_testing::test(nodes = 2)]
async fn a_set_is_checked_and_filled_in_its_pods_are_injected_counted_and_updated_one_by_one(
    cluster: Cluster,
) {
    cluster.run(operator).await;
    let broken = json!({"selector": {}, "containers": [{"name": "side"}]});
    let answer = refused(&cluster, "flow", broken).await;
    let causes = answer.details.map(|details| details.causes);
    let causes = causes.unwrap_or_default();
    let fields: Vec<_> = causes.iter().map(|cause| cause.field.as_str()).collect();
    assert_eq!(
        (answer.code, fields),
        (422, vec!["spec.selector", "spec.containers[0].image"])
    );

    let made = active(&cluster, set("flow", json!({}))).await;
    let side = &made.spec.containers[0].container;
    assert_eq!(side.image_pull_policy.as_deref(), Some("IfNotPresent"));
    assert_eq!(side.termination_message_policy.as_deref(), Some("File"));
    assert_eq!(made.annotations()[HASH_ANNOTATION], spec_hash(&made));

    for name in ["one", "two", "three"] {
        let made_pod = cluster.create(pod(name, "flow")).await;
        assert_eq!(containers(&made_pod), ["side", "app"]);
        let env = container(&made_pod, "side")["env"].clone();
        assert_eq!(env, json!([{"name": INJECTED, "value": "true"}]));
        assert_eq!(injected(&made_pod)["flow"].hash, spec_hash(&made));
    }
    let other = cluster.create(pod("other", "else")).await;
    assert_eq!(containers(&other), ["app"]);
    cluster.delete::<Pod>("other").await;
    cluster
        .eventually("all Pods are counted", async |c| {
            let status = status(c, "flow").await;
            let counts = (status.matched_pods, status.updated_pods, status.ready_pods);
            counts == (3, 3, 3) && status.uninjected_pods == 0
        })
        .await;

    let (mut pods, since) = now(&cluster).await;
    change(&cluster, "flow", json!({})).await;
    cluster
        .eventually("all Pods are updated and ready", async |c| {
            let status = status(c, "flow").await;
            newer(c).await == 3 && status.updated_ready_pods == 3
        })
        .await;
    assert_eq!(reason(&cluster, "flow").await, "Complete");
    let mut most = 0;
    for pod in happened(&cluster, &since).await {
        pods.insert(pod.name_any(), pod);
        let under_way = pods.values().filter(|pod| is_under_way(pod)).count();
        most = most.max(under_way);
    }
    assert_eq!(most, 1, "Pods that were updated at once");
    for pod in cluster.list::<Pod>().await {
        let statuses = pod.status.and_then(|one| one.container_statuses);
        let restarts: Vec<_> = statuses
            .unwrap_or_default()
            .iter()
            .map(|one| (one.name.clone(), one.restart_count))
            .collect();
        assert_eq!(restarts, [("side".to_owned(), 1), ("app".to_owned(), 0)]);
    }
}

/// Whether it has the newer image and is not ready with it yet.
fn is_under_way(pod: &Pod) -> bool {
    let statuses = pod.status.iter();
    let mut statuses = statuses.flat_map(|one| one.container_statuses.iter().flatten());
    let has_arrived = statuses.any(|one| one.name == "side" && one.image == NEWER && one.ready);
    container(pod, "side")["image"] == NEWER && !(has_arrived && is_ready(pod))
}

/// Kruise's holes: a Pod that goes, and labels of a namespace that change.
#[kubewright_testing::test(nodes = 1)]
async fn pods_that_go_and_namespaces_that_change_are_counted(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("going", json!({}))).await;
    running(&cluster, [pod("a", "going"), pod("b", "going")]).await;
    let counts = async |wanted: i32| {
        cluster
            .eventually(format!("{wanted} are counted"), async |c| {
                status(c, "going").await.matched_pods == wanted
            })
            .await;
    };
    counts(2).await;
    cluster.delete::<Pod>("a").await;
    counts(1).await;
    let elsewhere = json!({"matchLabels": {"team": "going"}});
    let selector = json!({"spec": {"namespaceSelector": elsewhere}});
    cluster.patch::<SidecarSet>("going", selector).await;
    counts(0).await;
    let label = json!({"metadata": {"labels": {"team": "going"}}});
    cluster.patch::<Namespace>(cluster.namespace(), label).await;
    counts(1).await;
}

/// Pods that were there first.
#[kubewright_testing::test(nodes = 1)]
async fn older_pods_are_told_of_and_not_matched(cluster: Cluster) {
    cluster.run(operator).await;
    running(&cluster, [pod("old", "older")]).await;
    active(&cluster, set("older", json!({}))).await;
    cluster
        .eventually("the older Pod is told of", async |c| {
            let status = status(c, "older").await;
            (status.matched_pods, status.uninjected_pods) == (0, 1)
        })
        .await;
    change(&cluster, "older", json!({})).await;
    running(&cluster, [pod("new", "older")]).await;
    let images = {
        cluster.delete::<Pod>("old").await;
        cluster
            .eventually("the older Pod is gone", async |c| {
                c.get::<Pod>("old").await.is_none()
            })
            .await;
        images(&cluster, "side").await
    };
    assert_eq!(images["new"], NEWER);
}
