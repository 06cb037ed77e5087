use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use kubewright_wire::status::Status;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::addresses::Addresses;
use super::containers::crash_wait;
use super::node_status::{host_address, ready};
use super::pod_status::{Surroundings, next_status};
use crate::client::{Deletion, NODES, PODS};
use crate::orders::{OrderBook, Orders, PodFate};
use crate::view::{items, status_patch, text};
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// The kubelets of all nodes.
#[derive(Debug)]
pub(crate) struct Kubelet {
    orders: watch::Receiver<Orders>,
    nodes: BTreeSet<String>,
    /// The Pods that are bound to each node, whether the node is there or not.
    pods: BTreeMap<String, BTreeSet<Key>>,
    addresses: Addresses,
    work: Work<Key>,
}

impl Controller for Kubelet {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            "nodes" => self.observe_node(event),
            "pods" => self.observe_pod(event),
            _ => {}
        }
    }

    async fn signal(&mut self) {
        // The sender lives in the server, which this part of it holds.
        if self.orders.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        for node in &self.nodes {
            self.work.add(Key::new("nodes", None, node));
        }
        for pod in self.pods.values().flatten() {
            self.work.add(pod.clone());
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            None => Ok(()),
            Some(node) if key.resource() == "nodes" => self.tend_node(cluster, &node).await,
            Some(pod) => self.tend_pod(cluster, &key, &pod).await,
        };
        self.work.settle(key, result);
        Step::Worked
    }
}

impl Kubelet {
    pub(crate) fn new(orders: &OrderBook) -> Self {
        Self {
            orders: orders.subscribe(),
            nodes: BTreeSet::new(),
            pods: BTreeMap::new(),
            addresses: Addresses::default(),
            work: Work::default(),
        }
    }

    fn observe_node(&mut self, event: &Event<'_>) {
        if event.now.is_none() {
            self.nodes.remove(event.key.name());
            return;
        }
        self.nodes.insert(event.key.name().to_owned());
        self.work.add(event.key.clone());
        if event.before.is_none() {
            let waiting = self.pods.get(event.key.name()).into_iter().flatten();
            for pod in waiting {
                self.work.add(pod.clone());
            }
        }
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        let Some(pod) = event.now else {
            self.addresses.release(event.key);
            if let Some(before) = event.before {
                self.unbind(event.key, node_of(before));
            }
            return;
        };
        let node = node_of(pod);
        if node.is_empty() {
            return;
        }
        let pods = self.pods.entry(node.to_owned()).or_default();
        pods.insert(event.key.clone());
        if !is_on_host_network(pod.value()) {
            self.addresses
                .note(event.key, text(pod.value(), "/status/podIP"));
        }
        self.work.add(event.key.clone());
    }

    fn unbind(&mut self, pod: &Key, node: &str) {
        if let Some(pods) = self.pods.get_mut(node) {
            pods.remove(pod);
            if pods.is_empty() {
                self.pods.remove(node);
            }
        }
    }

    async fn tend_pod(&mut self, cluster: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let name = node_of(pod);
        let Some(node) = cluster.store().get(&Key::new("nodes", None, name)) else {
            return Ok(());
        };
        let (fate, is_stopped) = {
            let orders = self.orders.borrow();
            (orders.fate(pod), orders.is_stopped(name))
        };
        if is_stopped || pod.is_terminating() && fate == PodFate::Linger {
            return Ok(());
        }
        let kubelet = cluster.acting_as(&format!("system:node:{name}"));
        if pod.is_terminating() {
            let deletion = Deletion {
                uid: pod.uid(),
                grace_seconds: Some(0),
                propagation: None,
            };
            return kubelet.delete(&PODS, pod, deletion).await;
        }
        let host_address = host_address(node.value());
        let pod_address = match is_on_host_network(pod.value()) {
            true => host_address.to_owned(),
            false => match self.addresses.take(key) {
                Some(address) => address.to_string(),
                None => return Err(Status::internal("all addresses of 10.64.0.0/16 are taken")),
            },
        };
        let may_crash = match fate {
            PodFate::CrashLoop | PodFate::Complete => self.may_crash(cluster, key, pod),
            _ => true,
        };
        let around = Surroundings {
            now: &cluster.timestamp(),
            host_address,
            pod_address: &pod_address,
            fate: &fate,
            may_crash,
        };
        match next_status(pod.value(), around) {
            None => Ok(()),
            Some(status) => {
                let patch = status_patch(pod.value(), &status);
                kubelet.patch_status(&PODS, pod, patch).await
            }
        }
    }

    /// Whether the wait after the last crash is over; if not, the Pod is looked at again then.
    fn may_crash(&mut self, cluster: &Client, key: &Key, pod: &Object) -> bool {
        let Some(start) = next_start(pod.value()) else {
            return true;
        };
        let wait = cluster.server().clock().until(start);
        if wait.is_zero() {
            return true;
        }
        self.work.add_at(Instant::now() + wait, key.clone());
        false
    }

    async fn tend_node(&self, cluster: &Client, node: &Object) -> Result<(), Status> {
        if self.orders.borrow().is_stopped(node.name()) {
            return Ok(());
        }
        let Some(status) = ready(node.value(), &cluster.timestamp()) else {
            return Ok(());
        };
        let kubelet = cluster.acting_as(&format!("system:node:{}", node.name()));
        let patch = status_patch(node.value(), &status);
        kubelet.patch_status(&NODES, node, patch).await
    }
}

/// When a container that ended and waits may be started again; none when it runs.
fn next_start(pod: &Value) -> Option<Timestamp> {
    let container = items(pod, "/status/containerStatuses").first()?;
    container.pointer("/state/waiting")?;
    let ended: Timestamp = text(container, "/lastState/terminated/finishedAt")
        .parse()
        .ok()?;
    let wait = crash_wait(container["restartCount"].as_u64().unwrap_or_default());
    let wait = SignedDuration::from_secs(i64::try_from(wait).unwrap_or(i64::MAX));
    ended.checked_add(wait).ok()
}

fn node_of(pod: &Object) -> &str {
    text(pod.value(), "/spec/nodeName")
}

fn is_on_host_network(pod: &Value) -> bool {
    pod.pointer("/spec/hostNetwork") == Some(&Value::Bool(true))
}
