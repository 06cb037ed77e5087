//! What a settled set costs.

use kubewright::prelude::*;
use kubewright_testing::Cluster;
use mydaemonset::{MyDaemonSet, operator};
use serde_json::json;

use crate::set::{rolled_out, sample};

#[kubewright_testing::test(nodes = 2)]
async fn a_set_that_is_as_it_should_be_is_not_written(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster
        .consistently(Duration::from_secs(1), "the last status", async |_| true)
        .await;
    let written = cluster.writes();
    let labels = json!({"metadata": {"labels": {"touched": "yes"}}});
    cluster.patch::<MyDaemonSet>("sample", labels.clone()).await;
    cluster.patch::<Node>("node-1", labels).await;
    cluster
        .consistently(Duration::from_secs(2), "no write", async |c| {
            c.writes() == written
        })
        .await;
    cluster.restart_operator().await;
    cluster
        .consistently(Duration::from_secs(2), "no write", async |c| {
            c.writes() == written
        })
        .await;
}

/// What kubelets say while nothing happens: each renews its Lease every 10 s and reports the
/// state of its node every 5 min.
#[kubewright_testing::test(nodes = 50, needs = [VirtualTime])]
#[ignore = "a thousand Pods take seconds"]
async fn eleven_minutes_of_heartbeats_cause_no_write(cluster: Cluster) {
    cluster.run(operator).await;
    for number in 0..20 {
        let mut set = sample();
        set.metadata.name = Some(format!("set-{number}"));
        cluster.apply(set).await;
    }
    cluster
        .consistently(Duration::from_secs(60), "time to roll out", async |_| true)
        .await;
    let sets = cluster.list::<MyDaemonSet>().await;
    let available = sets.iter().filter_map(|set| set.status.as_ref());
    let available: i32 = available.map(|status| status.available_replicas).sum();
    assert_eq!(available, 20 * 50);
    let written = cluster.writes().len();
    let mut updates = 0;
    for beat in 1..=66 {
        cluster
            .consistently(Duration::from_secs(10), "a pause", async |_| true)
            .await;
        let now = cluster
            .clock()
            .now()
            .strftime("%Y-%m-%dT%H:%M:%SZ")
            .to_string();
        if beat % 30 == 0 {
            for number in 1..=50 {
                report(&cluster, number, &now).await;
                updates += 1;
            }
        }
    }
    assert!(updates >= 100, "{updates} updates of nodes");
    assert_eq!(cluster.writes().len() - written, 0, "writes at rest");
}

async fn report(cluster: &Cluster, number: usize, now: &str) {
    let name = format!("node-{number}");
    let node = cluster.get::<Node>(&name).await.expect("the node is there");
    let status = node.status.unwrap_or_default();
    let mut conditions = serde_json::to_value(status.conditions).expect("conditions are JSON");
    for condition in conditions.as_array_mut().into_iter().flatten() {
        condition["lastHeartbeatTime"] = json!(now);
    }
    let nodes: kube::Api<Node> = kube::Api::all(cluster.client());
    let patch = json!({"status": {"conditions": conditions}});
    let patch = kube::api::Patch::Merge(patch);
    nodes
        .patch_status(&name, &Default::default(), &patch)
        .await
        .expect("the status is written");
}
