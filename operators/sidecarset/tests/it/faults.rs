//! What goes wrong: nothing is injected twice, no Pod is lost, a roll-out ends.

use kube::Api;
use kube::api::PostParams;
use kubewright::Verb;
use kubewright::prelude::*;
use kubewright_testing::{Cluster, Fault};
use serde_json::json;
use sidecarset::{SidecarSet, operator};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::world::{IMAGE, NEWER, active, change, containers, images, pod, running, set, status};

async fn updated_to(cluster: &Cluster, (name, image): (&str, &str), pods: usize) {
    cluster
        .eventually("each Pod has the image once and is ready", async |c| {
            let images = images(c, "side").await;
            let all = images.values().filter(|one| *one == image).count();
            let ready = status(c, name).await.updated_ready_pods;
            all == pods && usize::try_from(ready).is_ok_and(|ready| ready == pods)
        })
        .await;
    for pod in cluster.list::<Pod>().await {
        assert_eq!(containers(&pod), ["side", "app"]);
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn an_operator_killed_after_any_write_of_a_roll_out_ends_it(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("killed", json!({}))).await;
    running(&cluster, ["a", "b", "c"].map(|one| pod(one, "killed"))).await;
    // A roll-out writes a revision, three Pods and some statuses.
    for (writes, image) in (0..6).zip([NEWER, IMAGE].iter().cycle()) {
        let crash = cluster.inject(Fault::crash().after(writes));
        let containers = json!([{"name": "side", "image": image}]);
        let patch = json!({"spec": {"containers": containers}});
        cluster.patch::<SidecarSet>("killed", patch).await;
        cluster.met(&crash).await;
        cluster.restart_operator().await;
        updated_to(&cluster, ("killed", image), 3).await;
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn writes_that_fail_or_whose_answer_is_lost_are_made_up_for(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("lossy", json!({}))).await;
    running(&cluster, ["a", "b"].map(|one| pod(one, "lossy"))).await;
    let mut image = IMAGE;
    for fault in [
        Fault::conflict().on(Verb::Patch, "pods"),
        Fault::server_error().on(Verb::Patch, "pods"),
        Fault::lost_answer().on(Verb::Patch, "pods"),
        Fault::unreachable().on(Verb::Patch, "pods"),
        Fault::conflict().on(Verb::Patch, "sidecarsets/status"),
    ] {
        image = if image == IMAGE { NEWER } else { IMAGE };
        let met = cluster.inject(fault);
        let containers = json!([{"name": "side", "image": image}]);
        let patch = json!({"spec": {"containers": containers}});
        cluster.patch::<SidecarSet>("lossy", patch).await;
        cluster.met(&met).await;
        updated_to(&cluster, ("lossy", image), 2).await;
    }
}

#[kubewright_testing::test(nodes = 1)]
async fn two_operators_at_once_update_each_pod_once(cluster: Cluster) {
    cluster.run(operator).await;
    cluster.run(operator).await;
    active(&cluster, set("twins", json!({}))).await;
    running(&cluster, ["a", "b"].map(|one| pod(one, "twins"))).await;
    change(&cluster, "twins", json!({})).await;
    updated_to(&cluster, ("twins", NEWER), 2).await;
}

/// Pods are created while the only replica is killed: each create is refused or injected once.
#[kubewright_testing::test(nodes = 1)]
async fn a_webhook_killed_under_load_loses_no_pod_and_injects_none_twice(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("load", json!({}))).await;
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    for number in 0..20 {
        if number == 7 {
            cluster.kill_operator();
            let refused = pods
                .create(&PostParams::default(), &pod("never", "load"))
                .await;
            assert!(refused.is_err(), "{refused:?}");
            cluster.restart_operator().await;
        }
        cluster.create(pod(&format!("p{number}"), "load")).await;
    }
    let all = cluster.list::<Pod>().await;
    assert_eq!(all.len(), 20);
    for pod in &all {
        assert_eq!(containers(pod), ["side", "app"]);
    }
}

const TASKS: usize = 8;
const EACH: usize = 50;

/// Makes Pods from several tasks at once, and lets something happen in the middle. What is refused
/// because nobody answered is tried again, as whoever makes Pods does; answers how often each task
/// had to.
async fn under_load(cluster: &Cluster, set: &str, happens: impl AsyncFnOnce()) -> Vec<usize> {
    let (tell, mut made) = mpsc::channel(TASKS * EACH);
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
        let all: Vec<_> = (0..EACH)
            .map(|number| pod(&format!("p{task}-{number}"), set))
            .collect();
        let tell = tell.clone();
        tasks.spawn(async move {
            let mut refusals = 0;
            for pod in all {
                while let Err(error) = pods.create(&PostParams::default(), &pod).await {
                    let text = error.to_string();
                    assert!(text.contains("failed calling webhook"), "{text}");
                    refusals += 1;
                }
                tell.send(()).await.expect("somebody counts");
            }
            refusals
        });
    }
    for _ in 0..TASKS * EACH / 3 {
        made.recv().await.expect("the tasks make Pods");
    }
    happens().await;
    let refusals = tasks.join_all().await;
    let all = cluster.list::<Pod>().await;
    assert_eq!(all.len(), TASKS * EACH);
    for pod in &all {
        assert_eq!(containers(pod), ["side", "app"]);
    }
    refusals
}

/// What it was asked at that moment is lost and no more: the other one answers.
#[kubewright_testing::test(nodes = 1)]
async fn a_webhook_replica_killed_under_load_loses_no_pod_and_injects_none_twice(cluster: Cluster) {
    cluster.run_replicas(operator, 2).await;
    active(&cluster, set("replicas", json!({}))).await;
    let refusals = under_load(&cluster, "replicas", async || cluster.kill_replica(0)).await;
    assert!(refusals.iter().all(|&one| one <= 1), "{refusals:?}");
    // With neither, nobody answers.
    cluster.kill_replica(1);
    let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
    let refused = pods
        .create(&PostParams::default(), &pod("never", "replicas"))
        .await;
    assert!(refused.is_err(), "{refused:?}");
    cluster.restart_operator().await;
    cluster.create(pod("later", "replicas")).await;
}

/// A Deployment that is rolled out stops its Pods one by one: nobody is refused for that.
#[kubewright_testing::test(nodes = 1)]
async fn a_webhook_replica_that_stops_under_load_refuses_nothing(cluster: Cluster) {
    cluster.run_replicas(operator, 2).await;
    active(&cluster, set("leaving", json!({}))).await;
    let stops = async || cluster.stop_replica(0).await;
    let refusals = under_load(&cluster, "leaving", stops).await;
    assert!(refusals.iter().all(|&one| one == 0), "{refusals:?}");
}

/// Twice: in the middle of a roll-out, and while there is nothing to do.
#[kubewright_testing::test(nodes = 1, needs = [Restarts])]
async fn an_api_server_that_restarts_under_the_operator_stops_no_roll_out(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("restarted", json!({}))).await;
    running(&cluster, ["a", "b", "c"].map(|one| pod(one, "restarted"))).await;
    change(&cluster, "restarted", json!({})).await;
    cluster.restart_server().await;
    updated_to(&cluster, ("restarted", NEWER), 3).await;
    cluster.restart_server().await;
    running(&cluster, [pod("d", "restarted")]).await;
    let containers = json!([{"name": "side", "image": IMAGE}]);
    let patch = json!({"spec": {"containers": containers}});
    cluster.patch::<SidecarSet>("restarted", patch).await;
    updated_to(&cluster, ("restarted", IMAGE), 4).await;
}

#[kubewright_testing::test(nodes = 1)]
async fn watches_that_break_are_made_up_for(cluster: Cluster) {
    cluster.run(operator).await;
    active(&cluster, set("cut", json!({}))).await;
    running(&cluster, ["a", "b"].map(|one| pod(one, "cut"))).await;
    cluster.cut_watches("pods");
    cluster.expire_watches("sidecarsets");
    change(&cluster, "cut", json!({})).await;
    updated_to(&cluster, ("cut", NEWER), 2).await;
}
