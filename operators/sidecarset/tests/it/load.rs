//! Many sets and many Pods.

use std::time::Instant;

use kube::Api;
use kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::operator;
use tokio::task::JoinSet;

use crate::fixtures::{
    NEW_IMAGE, container, containers, create_active_set, pod, set, status, update_image,
};

const SETS: usize = 200;
const PODS: usize = 5_000;
const TASKS: usize = 8;
/// The creations per second that a release build must reach.
const MIN_RATE: f64 = 500.0;

/// Takes a minute: `cargo test --release -p sidecarset --test it -- --ignored load`.
#[kubewright_testing::test(cluster = embedded)]
#[ignore = "takes longer than all other tests together"]
async fn load_of_200_sets_and_5000_pods_is_injected_counted_and_rolled_out(cluster: Cluster) {
    cluster.run(operator).await;
    for number in 0..SETS - 1 {
        cluster.create(set(&set_name(number), json!({}))).await;
    }
    create_active_set(&cluster, set("set-last", json!({}))).await;
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
    let expected = (0..PODS).filter(|number| number % (SETS - 1) == 0).count();
    let changed = update_image(&cluster, &set_name(0), json!({})).await;
    cluster
        .eventually("the roll-out of one set completes", async |c| {
            let status = status(c, &set_name(0)).await;
            let is_observed = Some(status.observed_generation) >= changed.metadata.generation;
            let updated = usize::try_from(status.updated_pods);
            is_observed && updated.is_ok_and(|updated| updated == expected)
        })
        .await;
    let rolled_out = start.elapsed();
    let pods = cluster.list::<Pod>().await;
    assert_eq!(pods.len(), PODS);
    for pod in &pods {
        assert_eq!(containers(pod), ["side", "app"], "{}", pod.name_any());
    }
    let is_updated = |pod: &&Pod| container(pod, "side")["image"] == NEW_IMAGE;
    assert_eq!(pods.iter().filter(is_updated).count(), expected);

    let rate = f64::from(u32::try_from(PODS).unwrap_or(0)) / created.as_secs_f64();
    print(&format!(
        "creates_per_second {rate:.0} created_s {:.1} counted_s {:.1} rolled_out_s {:.1}",
        created.as_secs_f64(),
        counted.as_secs_f64(),
        rolled_out.as_secs_f64()
    ));
    assert!(
        cfg!(debug_assertions) || rate >= MIN_RATE,
        "{rate:.0} creations per second, at least {MIN_RATE:.0} are required"
    );
}

fn set_name(number: usize) -> String {
    format!("set-{number}")
}

/// Creates all Pods, and asserts that each one has its sidecar.
async fn create_all(cluster: &Cluster) {
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let pods: Api<Pod> = Api::namespaced(cluster.client(), cluster.namespace());
        tasks.spawn(async move {
            for number in (task..PODS).step_by(TASKS) {
                let pod = pod(&format!("p{number}"), &set_name(number % (SETS - 1)));
                let result = pods.create(&PostParams::default(), &pod).await;
                let created = result.expect("create the Pod");
                assert_eq!(containers(&created), ["side", "app"]);
            }
        });
    }
    tasks.join_all().await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "the rate is measured in real time, and the cluster's time is virtual"
)]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::print_stderr, reason = "the test measures the rate")]
fn print(text: &str) {
    eprintln!("{text}");
}
