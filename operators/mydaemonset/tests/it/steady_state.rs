//! A set that needs no change causes no writes.

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
async fn reconciled_set_causes_no_writes(cluster: Cluster) {
    rolled_out(&cluster, 2).await;
    cluster
        .consistently(Duration::from_secs(1), "the last status", async |_| true)
        .await;
    let writes = cluster.writes();
    let labels = json!({"metadata": {"labels": {"touched": "yes"}}});
    cluster.patch::<MyDaemonSet>("sample", labels.clone()).await;
    cluster.patch::<Node>("node-1", labels).await;
    cluster
        .consistently(Duration::from_secs(2), "no write", async |c| {
            c.writes() == writes
        })
        .await;
    cluster.restart_operator().await;
    cluster
        .consistently(Duration::from_secs(2), "no write", async |c| {
            c.writes() == writes
        })
        .await;
}

const SETS: i32 = 20;
const NODES: i32 = 50;

/// How often the operator's own informer has called a mapper for a changed Node.
static NODE_UPDATES: AtomicU32 = AtomicU32::new(0);

/// The operator, with a second controller that shares its informer of Nodes and counts updates.
fn counting_operator() -> Operator {
    async fn idle(_: Arc<MyDaemonSet>, _: Context<MyDaemonSet>) -> Result<Outcome> {
        Ok(Outcome::done())
    }
    let counter = Controller::new(idle).named("counter").watches(
        kind::<Node>().when(only::updated()),
        |_: &Node, _: &Cache<MyDaemonSet>| {
            NODE_UPDATES.fetch_add(1, Ordering::Relaxed);
            None
        },
    );
    operator().controller(counter)
}

/// A mapper is called for the object before and for the object after a change.
fn node_updates() -> u32 {
    NODE_UPDATES.load(Ordering::Relaxed) / 2
}

/// The nodes send the heartbeats of idle kubelets: each renews its Lease every 10 s and reports its
/// status every 5 min.
#[kubewright_testing::test(nodes = 50, needs = [VirtualTime])]
#[ignore = "takes three times as long as all other tests: `cargo test -p mydaemonset -- --ignored`"]
async fn eleven_minutes_of_heartbeats_cause_no_write(cluster: Cluster) {
    cluster.run(counting_operator).await;
    for number in 0..SETS {
        let mut set = sample();
        set.metadata.name = Some(format!("set-{number}"));
        cluster.apply(set).await;
    }
    // A series of events is closed six minutes after its last event.
    cluster
        .consistently(Duration::from_secs(600), "time to roll out", async |_| true)
        .await;
    let sets = cluster.list::<MyDaemonSet>().await;
    let statuses = sets.iter().filter_map(|set| set.status.as_ref());
    let available: i32 = statuses.map(|status| status.available_replicas).sum();
    assert_eq!(available, SETS * NODES);
    let writes_before = cluster.writes().len();
    let events_before = events(&cluster).await;
    let updates_before = node_updates();
    cluster
        .consistently(Duration::from_secs(660), "eleven minutes", async |_| true)
        .await;
    leases_are_renewed(&cluster).await;
    let updates = node_updates() - updates_before;
    assert!(updates >= 100, "{updates} updates of nodes");
    let new_writes = cluster.writes().split_off(writes_before);
    assert_eq!(new_writes, Vec::<String>::new());
    let mut new_events = events(&cluster).await;
    new_events.retain(|event| !events_before.contains(event));
    assert_eq!(new_events, []);
}

/// The name and the resource version of each event in the cluster.
async fn events(cluster: &Cluster) -> Vec<(String, Option<String>)> {
    let events = cluster.list::<StoredEvent>().await;
    events
        .iter()
        .map(|event| (event.name_any(), event.resource_version()))
        .collect()
}

/// Asserts that all kubelets were still running at the end.
async fn leases_are_renewed(cluster: &Cluster) {
    let namespace = cluster.in_namespace("kube-node-lease");
    let leases = namespace.list::<Lease>().await;
    assert_eq!(leases.len(), 50);
    for lease in leases {
        let renewed = lease.spec.and_then(|spec| spec.renew_time);
        let age = renewed.map(|time| cluster.clock().now().duration_since(time.0).as_secs());
        assert!(age.is_some_and(|age| age <= 15), "renewed {age:?} s ago");
    }
}
