//! What a settled set costs.

use std::sync::atomic::{AtomicU32, Ordering};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::events::v1::Event as StoredEvent;
use kubewright::controller::{Cache, only};
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

const SETS: i32 = 20;
const NODES: i32 = 50;

/// How often the operator's own informer has told of a change of a Node.
static NODE_UPDATES: AtomicU32 = AtomicU32::new(0);

/// The operator, and one controller more that shares its informer of Nodes and counts.
fn counting() -> Operator {
    async fn idle(_: Arc<MyDaemonSet>, _: Context<MyDaemonSet>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    let updates = kind::<Node>().when(only::updated());
    let counter = Controller::new(idle).named("counter").watches(
        updates,
        |_: &Node, _: &Cache<MyDaemonSet>| {
            NODE_UPDATES.fetch_add(1, Ordering::Relaxed);
            None
        },
    );
    operator().controller(counter)
}

/// A mapper is asked about the object before and about the object after a change.
fn node_updates() -> u32 {
    NODE_UPDATES.load(Ordering::Relaxed) / 2
}

/// The nodes say what kubelets say while nothing happens: each renews its Lease every 10 s and
/// reports its state every 5 min.
#[kubewright_testing::test(nodes = 50, needs = [VirtualTime])]
#[ignore = "takes three times as long as all others: `cargo test -p mydaemonset -- --ignored`"]
async fn eleven_minutes_of_heartbeats_cause_no_write(cluster: Cluster) {
    cluster.run(counting).await;
    for number in 0..SETS {
        let mut set = sample();
        set.metadata.name = Some(format!("set-{number}"));
        cluster.apply(set).await;
    }
    // The series of events about a roll-out are closed six minutes after their last.
    cluster
        .consistently(Duration::from_secs(600), "time to roll out", async |_| true)
        .await;
    let sets = cluster.list::<MyDaemonSet>().await;
    let available = sets.iter().filter_map(|set| set.status.as_ref());
    let available: i32 = available.map(|status| status.available_replicas).sum();
    assert_eq!(available, SETS * NODES);
    let (written, told) = (cluster.writes(), events(&cluster).await);
    let before = node_updates();
    cluster
        .consistently(Duration::from_secs(660), "eleven minutes", async |_| true)
        .await;
    renewed(&cluster).await;
    let seen = node_updates() - before;
    assert!(seen >= 100, "{seen} updates of nodes");
    let more = cluster.writes().split_off(written.len());
    assert_eq!(more, Vec::<String>::new(), "writes at rest");
    let mut more = events(&cluster).await;
    more.retain(|event| !told.contains(event));
    assert_eq!(more, [], "events at rest");
}

/// What the cluster has been told: each event, as of its last write.
async fn events(cluster: &Cluster) -> Vec<(String, Option<String>)> {
    let events = cluster.list::<StoredEvent>().await.into_iter();
    let named = events.map(|event| (event.name_any(), event.resource_version()));
    named.collect()
}

/// The kubelets were at it all the time, up to now.
async fn renewed(cluster: &Cluster) {
    let leases = cluster.in_namespace("kube-node-lease");
    let leases = leases.list::<Lease>().await;
    assert_eq!(leases.len(), 50);
    for lease in leases {
        let renewed = lease.spec.and_then(|spec| spec.renew_time);
        let age = renewed.map(|time| cluster.clock().now().duration_since(time.0));
        let age = age.map(|age| age.as_secs());
        assert!(age.is_some_and(|age| age <= 15), "renewed {age:?} s ago");
    }
}
