//! The heartbeats of nodes: Leases and periodic reports of their status.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::{coordination, core};
use kubewright_wire::status::Status;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::settings::{KubeletSettings, SharedKubeletSettings};
use crate::framework::{
    Client, ControlLoop, LEASES, NODES, ObjectChange, Step, WorkQueue, is_true, items,
    status_patch, text,
};

/// The namespace of the Leases of nodes.
pub(crate) const LEASE_NAMESPACE: &str = "kube-node-lease";

/// `NodeLeaseDurationSeconds` of pkg/kubelet. The Lease is renewed after a quarter of it.
const LEASE_SECONDS: u64 = 40;
const RENEW_INTERVAL: Duration = Duration::from_secs(10);
/// How often a kubelet reports an unchanged status (`NodeStatusReportFrequency` of pkg/kubelet).
const REPORT_INTERVAL: Duration = Duration::from_secs(300);

/// Renews the Lease of each node, and reports its conditions from time to time.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    settings: watch::Receiver<KubeletSettings>,
    /// When each node last reported its status.
    reported: BTreeMap<String, Instant>,
    nodes: WorkQueue<String>,
}

impl Heartbeat {
    pub(crate) fn new(settings: &SharedKubeletSettings) -> Self {
        Self {
            settings: settings.subscribe(),
            reported: BTreeMap::new(),
            nodes: WorkQueue::default(),
        }
    }

    async fn send(&mut self, client: &Client, node: &Object) -> Result<(), Status> {
        let name = node.name();
        if self.settings.borrow().is_stopped(name) {
            return Ok(());
        }
        let kubelet = client.as_node(name);
        renew_lease(&kubelet, node).await?;
        let is_due = |last: &Instant| last.elapsed() >= REPORT_INTERVAL;
        if self.reported.get(name).is_some_and(is_due) && is_true(node.value(), "Ready") {
            let conditions = refreshed_conditions(node.value(), &client.timestamp());
            let patch = status_patch(node.value(), &json!({"conditions": conditions}));
            kubelet.patch_status(&NODES, node, patch).await?;
            self.reported.insert(name.to_owned(), Instant::now());
        }
        Ok(())
    }
}

impl ControlLoop for Heartbeat {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if !change.key.is_of(&core::NODE) {
            return;
        }
        let name = change.key.name();
        match change.after {
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
        // The sender is dropped only when the cluster is, and this loop with it.
        if self.settings.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        for name in self.reported.keys() {
            self.nodes.add(name.clone());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(name) = self.nodes.pop() else {
            return self.nodes.idle();
        };
        let Some(node) = client.store().get(&Key::of(&core::NODE, None, &name)) else {
            return Step::Worked;
        };
        let result = self.send(client, &node).await;
        let next = Instant::now() + RENEW_INTERVAL;
        self.nodes.reschedule(next, name.clone());
        if let Err(failure) = result {
            tracing::debug!(node = name, %failure.message, "a heartbeat failed");
        }
        Step::Worked
    }
}

/// Creates the node's Lease, or renews it.
async fn renew_lease(kubelet: &Client, node: &Object) -> Result<(), Status> {
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
        "kind": coordination::LEASE.kind,
        "metadata": {
            "name": node.name(),
            "namespace": LEASE_NAMESPACE,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": core::NODE.kind, "name": node.name(), "uid": node.uid()},
            ],
        },
        "spec": {
            "holderIdentity": node.name(),
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": now,
        },
    });
    let created = kubelet.create(&LEASES, Some(LEASE_NAMESPACE), lease);
    created.await.map(drop)
}

/// The conditions with a new heartbeat time.
fn refreshed_conditions(node: &Value, now: &str) -> Vec<Value> {
    let mut conditions = items(node, "/status/conditions").to_vec();
    for condition in &mut conditions {
        // The network condition is not the kubelet's: route controllers report it.
        if text(condition, "/type") != "NetworkUnavailable" {
            condition["lastHeartbeatTime"] = now.into();
        }
    }
    conditions
}
