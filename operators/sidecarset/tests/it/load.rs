//! Many sets and many Pods.

use std::time::Instant;

use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::operator;
use tokio::task::JoinSet;

use crate::world::{NEWER, active, change, container, containers, pod, set, status};

const SETS: usize = 200;
const PODS: usize = 5_000;
const TASKS: usize = 8;
/// Creates a second that a release build must reach.
const BAR: f64 = 500.0;

/// Takes a minute: `cargo test --release -p sidecarset --test it -- --ignored load`.
#[kubewright_testing::test(cluster = embedded)]
#[ignore = "takes longer than all others together"]
async fn two_hundred_sets_and_five_thousand_pods(cluster: Cluster) {
    cluster.run(operator).await;
    for number in 0..SETS - 1 {
        cluster.create(set(&set_name(number), json!({}))).await;
    }
    active(&cluster, set("set-last", json!({}))).await;
    let start = now();
    create_all(&cluster).await;
    let created = start.elapsed();
    cluster
        .eventually("all Pods are counted", async |c| {
            let mut total = 0;
            for number in 0..SETS - 1 {
                total += status(c, &set_name(number)).await.matched_pods;
            }
            usize::try_from(total).is_ok_and(|total| total == PODS)
        })
        .await;
    let counted = start.elapsed();

    let start = now();
    let wanted = (0..PODS).filter(|number| number % (SETS - 1) == 0).count();
    let changed = change(&cluster, &set_name(0), json!({})).await;
    cluster
        .eventually("the roll-out of one set ends", async |c| {
            let status = status(c, &set_name(0)).await;
            let is_seen = Some(status.observed_generation) >= changed.metadata.generation;
            let updated = usize::try_from(status.updated_pods);
            is_seen && updated.is_ok_and(|updated| updated == wanted)
        })
        .await;
    let rolled_out = start.elapsed();
    let all = cluster.list::<Pod>().await;
    assert_eq!(all.len(), PODS);
    for pod in &all {
        assert_eq!(containers(pod), ["side", "app"], "{}", pod.name_any());
    }
    let is_newer = |pod: &&Pod| container(pod, "side")["image"] == NEWER;
    assert_eq!(all.iter().filter(is_newer).count(), wanted);

    let rate = f64::from(u32::try_from(PODS).unwrap_or(0)) / created.as_secs_f64();
    say(&format!(
        "creates_per_second {rate:.0} created_s {:.1} counted_s {:.1} rolled_out_s {:.1}",
        created.as_secs_f64(),
        counted.as_secs_f64(),
        rolled_out.as_secs_f64()
    ));
    assert!(
        cfg!(debug_assertions) || rate >= BAR,
        "{rate:.0} creates a second; {BAR:.0} are promised"
    );
}

fn set_name(number: usize) -> String {
    format!("set-{number}")
}

/// Each Pod has its sidecar once it is created.
async fn create_all(cluster: &Cluster) {
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
        tasks.spawn(async move {
            for number in (task..PODS).step_by(TASKS) {
                let pod = pod(&format!("p{number}"), &set_name(number % (SETS - 1)));
                let made = pods.create(&PostParams::default(), &pod).await;
                let made = made.expect("the Pod is taken");
                assert_eq!(containers(&made), ["side", "app"]);
            }
        });
    }
    tasks.join_all().await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "the figure is about real time, and the cluster's is virtual"
)]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::print_stderr, reason = "the figure is the point of the test")]
fn say(text: &str) {
    eprintln!("{text}");
}
