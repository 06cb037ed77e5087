use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::client::{LEASES, NODES};
use crate::orders::{OrderBook, Orders};
use crate::view::{is_true, items, status_patch, text};
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// Where the Leases of nodes are.
pub(crate) const LEASE_NAMESPACE: &str = "kube-node-lease";

/// How often a kubelet renews its Lease, how long the Lease holds, and how often the kubelet
/// reports a status that has not changed (`NodeLeaseDurationSeconds`, a quarter of it, and
/// `NodeStatusReportFrequency` of pkg/kubelet).
const RENEWAL: Duration = Duration::from_secs(10);
const LEASE_SECONDS: u64 = 40;
const REPORT: Duration = Duration::from_secs(300);

/// What a kubelet says while nothing happens: its Lease is renewed, its conditions still hold.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    orders: watch::Receiver<Orders>,
    /// When each node last reported its status.
    reported: BTreeMap<String, Instant>,
    nodes: Work<String>,
}

impl Heartbeats {
    pub(crate) fn new(orders: &OrderBook) -> Self {
        Self {
            orders: orders.subscribe(),
            reported: BTreeMap::new(),
            nodes: Work::default(),
        }
    }

    async fn beat(&mut self, cluster: &Client, node: &Object) -> Result<(), Status> {
        let name = node.name();
        if self.orders.borrow().is_stopped(name) {
            return Ok(());
        }
        let kubelet = cluster.acting_as(&format!("system:node:{name}"));
        renew(&kubelet, node).await?;
        let is_due = |last: &Instant| last.elapsed() >= REPORT;
        if self.reported.get(name).is_some_and(is_due) && is_true(node.value(), "Ready") {
            let status = json!({"conditions": still_true(node.value(), &cluster.timestamp())});
            let patch = status_patch(node.value(), &status);
            kubelet.patch_status(&NODES, node, patch).await?;
            self.reported.insert(name.to_owned(), Instant::now());
        }
        Ok(())
    }
}

impl Controller for Heartbeats {
    fn observe(&mut self, event: &Event<'_>) {
        if event.key.resource() != "nodes" {
            return;
        }
        let name = event.key.name();
        match event.now {
            None => {
                self.reported.remove(name);
            }
            Some(_) if !self.reported.contains_key(name) => {
                self.reported.insert(name.to_owned(), Instant::now());
                self.nodes.add(name.to_owned());
            }
            Some(_) => {}
        }
    }

    async fn signal(&mut self) {
        if self.orders.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        for name in self.reported.keys() {
            self.nodes.add(name.clone());
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(name) = self.nodes.next() else {
            return self.nodes.idle();
        };
        let Some(node) = cluster.store().get(&Key::new("nodes", None, &name)) else {
            return Step::Worked;
        };
        let result = self.beat(cluster, &node).await;
        self.nodes.put_off(Instant::now() + RENEWAL, name.clone());
        if let Err(failure) = result {
            tracing::debug!(node = name, %failure.message, "a heartbeat was lost");
        }
        Step::Worked
    }
}

/// Makes the node's Lease, or says that it still holds.
async fn renew(kubelet: &Client, node: &Object) -> Result<(), Status> {
    let now = kubelet.now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
    let key = Key::new(
        "leases.coordination.k8s.io",
        Some(LEASE_NAMESPACE),
        node.name(),
    );
    if let Some(lease) = kubelet.store().get(&key) {
        let patch = json!({"spec": {"renewTime": now}});
        return kubelet.patch(&LEASES, &lease, patch).await;
    }
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": node.name(),
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": node.name(), "uid": node.uid()},
            ],
        },
        "spec": {
            "holderIdentity": node.name(),
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": now,
        },
    });
    kubelet.create(&LEASES, Some(LEASE_NAMESPACE), lease).await
}

/// The conditions as they are, seen just now.
fn still_true(node: &Value, now: &str) -> Vec<Value> {
    let mut conditions = items(node, "/status/conditions").to_vec();
    for condition in &mut conditions {
        // The network is reported by others.
        if text(condition, "/type") != "NetworkUnavailable" {
            condition["lastHeartbeatTime"] = now.into();
        }
    }
    conditions
}
