//! Many sets and many Pods.

use std::time::Instant;

use kubewright_testing::Cluster;
use serde_json::json;
use sidecarset::operator;

use crate::world::{active, pod, set, status};

const SETS: usize = 200;
const PODS: usize = 5_000;

/// Takes a minute: `cargo test --release -p sidecarset --test it -- --ignored load`.
#[kubewright_testing::test(cluster = embedded)]
#[ignore = "takes longer than all others together"]
async fn two_hundred_sets_and_five_thousand_pods(cluster: Cluster) {
    cluster.run(operator).await;
    for number in 0..SETS - 1 {
        cluster
            .create(set(&format!("set-{number}"), json!({})))
            .await;
    }
    active(&cluster, set("set-last", json!({}))).await;
    let start = now();
    for number in 0..PODS {
        let name = format!("set-{}", number % (SETS - 1));
        let made = cluster.create(pod(&format!("p{number}"), &name)).await;
        assert_eq!(crate::world::containers(&made), ["side", "app"]);
    }
    let created = start.elapsed();
    cluster
        .eventually("all Pods are counted", async |c| {
            let mut total = 0;
            for number in 0..SETS - 1 {
                total += status(c, &format!("set-{number}")).await.matched_pods;
            }
            usize::try_from(total).is_ok_and(|total| total == PODS)
        })
        .await;
    let rate = f64::from(u32::try_from(PODS).unwrap_or(0)) / created.as_secs_f64();
    tracing_line(&format!(
        "creates_per_second {rate:.0} created_s {:.1} counted_s {:.1}",
        created.as_secs_f64(),
        start.elapsed().as_secs_f64()
    ));
}

#[expect(
    clippy::disallowed_methods,
    reason = "the figure is about real time, and the cluster's is virtual"
)]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::print_stderr, reason = "the figure is the point of the test")]
fn tracing_line(text: &str) {
    eprintln!("{text}");
}
