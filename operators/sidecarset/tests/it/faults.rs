//! Faults: no Pod is injected twice or lost, and each roll-out completes.

use kube::Api;
use kube::api::PostParams;
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use serde_json::json;
use sidecarset::{SidecarSet, operator};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::fixtures::{
    IMAGE, NEW_IMAGE, containers, create_active_set, create_ready_pods, images, pod, set, status,
    update_image,
};

/// Waits until this number of Pods has the image and is ready, each with one sidecar.
async fn wait_until_updated(cluster: &Cluster, name: &str, image: &str, pods: usize) {
    cluster
        .eventually("each Pod has the image and is ready", async |c| {
            let images = images(c, "side").await;
            let updated = images.values().filter(|other| *other == image).count();
            let ready = status(c, name).await.updated_ready_pods;
            updated == pods && usize::try_from(ready).is_ok_and(|ready| ready == pods)
        })
        .await;
    for pod in cluster.list::<Pod>().await {
        assert_eq!(containers(&pod), ["side", "app"]);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn operator_killed_after_any_write_completes_the_roll_out(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("killed", json!({}))).await;
    create_ready_pods(&cluster, ["a", "b", "c"].map(|name| pod(name, "killed"))).await;
    // A roll-out writes a revision, three Pods and some statuses.
    for (writes, image) in (0..6).zip([NEW_IMAGE, IMAGE].iter().cycle()) {
        let crash = cluster.inject(Fault::crash().after(writes));
        let containers = json!([{"name": "side", "image": image}]);
        let patch = json!({"spec": {"containers": containers}});
        cluster.patch::<SidecarSet>("killed", patch).await;
        cluster.wait_for_fault(&crash).await;
        cluster.restart_operator().await;
        wait_until_updated(&cluster, "killed", image, 3).await;
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn failed_writes_and_lost_responses_are_retried(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("lossy", json!({}))).await;
    create_ready_pods(&cluster, ["a", "b"].map(|name| pod(name, "lossy"))).await;
    let mut image = IMAGE;
    for fault in [
        Fault::conflict().on(Verb::Patch, "pods"),
        Fault::server_error().on(Verb::Patch, "pods"),
        Fault::lost_response().on(Verb::Patch, "pods"),
        Fault::unreachable().on(Verb::Patch, "pods"),
        Fault::conflict().on(Verb::Patch, "sidecarsets/status"),
    ] {
        image = if image == IMAGE { NEW_IMAGE } else { IMAGE };
        let met = cluster.inject(fault);
        let containers = json!([{"name": "side", "image": image}]);
        let patch = json!({"spec": {"containers": containers}});
        cluster.patch::<SidecarSet>("lossy", patch).await;
        cluster.wait_for_fault(&met).await;
        wait_until_updated(&cluster, "lossy", image, 2).await;
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn two_operators_at_once_update_each_pod_once(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.run(operator).await;
    create_active_set(&cluster, set("twins", json!({}))).await;
    create_ready_pods(&cluster, ["a", "b"].map(|name| pod(name, "twins"))).await;
    update_image(&cluster, "twins", json!({})).await;
    wait_until_updated(&cluster, "twins", NEW_IMAGE, 2).await;
}

/// The only replica is killed meanwhile: each creation is either rejected or injected.
#[kubewright_testing::test(nodes = 1)]
async fn webhook_killed_under_load_loses_no_pod_and_injects_none_twice(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("load", json!({}))).await;
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    for number in 0..20 {
        if number == 7 {
            cluster.kill_operator();
            let result = pods
                .create(&PostParams::default(), &pod("never", "load"))
                .await;
            assert!(result.is_err(), "{result:?}");
            cluster.restart_operator().await;
        }
        cluster.create(pod(&format!("p{number}"), "load")).await;
    }
    let created = cluster.list::<Pod>().await;
    assert_eq!(created.len(), 20);
    for pod in &created {
        assert_eq!(containers(pod), ["side", "app"]);
    }
}

const TASKS: usize = 8;
const PODS_PER_TASK: usize = 50;

/// Creates Pods in several tasks at once, and lets something happen meanwhile. A creation that fails
/// for want of a webhook is retried, as controllers do. Returns the number of retries of each task.
async fn create_under_load(cluster: &Cluster, set: &str, event: impl AsyncFnOnce()) -> Vec<usize> {
    let (sender, mut created) = mpsc::channel(TASKS * PODS_PER_TASK);
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
        let new_pods: Vec<_> = (0..PODS_PER_TASK)
            .map(|number| pod(&format!("p{task}-{number}"), set))
            .collect();
        let sender = sender.clone();
        tasks.spawn(async move {
            let mut retries = 0;
            for pod in new_pods {
                while let Err(error) = pods.create(&PostParams::default(), &pod).await {
                    let text = error.to_string();
                    assert!(text.contains("failed calling webhook"), "{text}");
                    retries += 1;
                }
                sender.send(()).await.expect("the receiver is open");
            }
            retries
        });
    }
    for _ in 0..TASKS * PODS_PER_TASK / 3 {
        created.recv().await.expect("a created Pod");
    }
    event().await;
    let retries = tasks.join_all().await;
    let pods = cluster.list::<Pod>().await;
    assert_eq!(pods.len(), TASKS * PODS_PER_TASK);
    for pod in &pods {
        assert_eq!(containers(pod), ["side", "app"]);
    }
    retries
}

/// Only the requests under way fail: the other replica serves the rest.
#[kubewright_testing::test(nodes = 1)]
async fn webhook_replica_killed_under_load_fails_one_request_per_client_at_most(cluster: Cluster) {
    cluster.run_replicas(operator, 2).await;
    create_active_set(&cluster, set("replicas", json!({}))).await;
    let kill = async || cluster.kill_replica(0);
    let retries = create_under_load(&cluster, "replicas", kill).await;
    assert!(retries.iter().all(|&count| count <= 1), "{retries:?}");
    // Without any replica, the Pod is rejected.
    cluster.kill_replica(1);
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let result = pods
        .create(&PostParams::default(), &pod("never", "replicas"))
        .await;
    assert!(result.is_err(), "{result:?}");
    cluster.restart_operator().await;
    cluster.create(pod("later", "replicas")).await;
}

/// The roll-out of the operator's Deployment stops one replica after the other.
#[kubewright_testing::test(nodes = 1)]
async fn webhook_replica_stopped_under_load_fails_no_request(cluster: Cluster) {
    cluster.run_replicas(operator, 2).await;
    create_active_set(&cluster, set("leaving", json!({}))).await;
    let stop = async || cluster.stop_replica(0).await;
    let retries = create_under_load(&cluster, "leaving", stop).await;
    assert!(retries.iter().all(|&count| count == 0), "{retries:?}");
}

/// Once during a roll-out, and once after it.
#[kubewright_testing::test(nodes = 1, needs = [Restarts])]
async fn restart_of_the_api_server_stops_no_roll_out(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("restarted", json!({}))).await;
    create_ready_pods(&cluster, ["a", "b", "c"].map(|name| pod(name, "restarted"))).await;
    update_image(&cluster, "restarted", json!({})).await;
    cluster.restart_server().await;
    wait_until_updated(&cluster, "restarted", NEW_IMAGE, 3).await;
    cluster.restart_server().await;
    create_ready_pods(&cluster, [pod("d", "restarted")]).await;
    let containers = json!([{"name": "side", "image": IMAGE}]);
    let patch = json!({"spec": {"containers": containers}});
    cluster.patch::<SidecarSet>("restarted", patch).await;
    wait_until_updated(&cluster, "restarted", IMAGE, 4).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn broken_and_expired_watches_are_reopened(cluster: Cluster) {
    cluster.run(operator).await;
    create_active_set(&cluster, set("cut", json!({}))).await;
    create_ready_pods(&cluster, ["a", "b"].map(|name| pod(name, "cut"))).await;
    cluster.cut_watches("pods");
    cluster.expire_watches("sidecarsets");
    update_image(&cluster, "cut", json!({})).await;
    wait_until_updated(&cluster, "cut", NEW_IMAGE, 2).await;
}
