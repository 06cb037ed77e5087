//! The loop of the kubelets: which nodes and Pods a change concerns, and their next status.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::addresses::PodAddresses;
use super::container_status::crash_backoff;
use super::node_status::{host_address, ready_status};
use super::pod_context::PodContext;
use super::pod_status::next_status;
use super::settings::{KubeletSettings, PodBehavior, SharedKubeletSettings};
use crate::framework::{
    Client, ControlLoop, DeleteOptions, NODES, ObjectChange, PODS, PodsByNode, Step, WorkQueue,
    items, node_name, status_patch, text,
};

/// The kubelets of all nodes.
#[derive(Debug)]
pub(crate) struct Kubelet {
    settings: watch::Receiver<KubeletSettings>,
    nodes: BTreeSet<String>,
    pods: PodsByNode,
    addresses: PodAddresses,
    /// Nodes and Pods to process.
    queue: WorkQueue<Key>,
}

impl ControlLoop for Kubelet {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NODE) {
            self.observe_node(change);
        } else if change.key.is_of(&core::POD) {
            self.observe_pod(change);
        }
    }

    async fn signal(&mut self) {
        // The sender is dropped only when the cluster is, and this loop with it.
        if self.settings.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        for node in &self.nodes {
            self.queue.add(Key::of(&core::NODE, None, node));
        }
        for pod in self.pods.all() {
            self.queue.add(pod.clone());
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(key) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match client.store().get(&key) {
            None => Ok(()),
            Some(node) if key.is_of(&core::NODE) => self.sync_node(client, &node).await,
            Some(pod) => self.sync_pod(client, &key, &pod).await,
        };
        self.queue.finish(key, result);
        Step::Worked
    }
}

impl Kubelet {
    pub(crate) fn new(settings: &SharedKubeletSettings) -> Self {
        Self {
            settings: settings.subscribe(),
            nodes: BTreeSet::new(),
            pods: PodsByNode::default(),
            addresses: PodAddresses::default(),
            queue: WorkQueue::default(),
        }
    }

    fn observe_node(&mut self, change: &ObjectChange<'_>) {
        if change.after.is_none() {
            self.nodes.remove(change.key.name());
            return;
        }
        self.nodes.insert(change.key.name().to_owned());
        self.queue.add(change.key.clone());
        if change.before.is_none() {
            for pod in self.pods.on(change.key.name()) {
                self.queue.add(pod.clone());
            }
        }
    }

    fn observe_pod(&mut self, change: &ObjectChange<'_>) {
        self.pods.observe(change);
        let Some(pod) = change.after else {
            self.addresses.release(change.key);
            return;
        };
        if node_name(pod.value()).is_empty() {
            return;
        }
        if !is_on_host_network(pod.value()) {
            let address = text(pod.value(), "/status/podIP");
            self.addresses.reserve(change.key, address);
        }
        self.queue.add(change.key.clone());
    }

    async fn sync_pod(&mut self, client: &Client, key: &Key, pod: &Object) -> Result<(), Status> {
        let name = node_name(pod.value());
        let Some(node) = client.store().get(&Key::of(&core::NODE, None, name)) else {
            return Ok(());
        };
        let (behavior, is_stopped) = {
            let settings = self.settings.borrow();
            (settings.behavior(pod), settings.is_stopped(name))
        };
        let ignores_termination = behavior == PodBehavior::IgnoreTermination;
        if is_stopped || pod.is_terminating() && ignores_termination {
            return Ok(());
        }
        let kubelet = client.as_node(name);
        if pod.is_terminating() {
            let options = DeleteOptions {
                uid: pod.uid(),
                grace_seconds: Some(0),
                propagation: None,
            };
            return kubelet.delete(&PODS, pod, options).await;
        }
        let host_address = host_address(node.value());
        let pod_address = self.pod_address(key, pod, host_address)?;
        let may_exit = match behavior {
            PodBehavior::CrashLoop | PodBehavior::Complete => {
                self.is_backoff_over(client, key, pod)
            }
            _ => true,
        };
        let context = PodContext {
            now: &client.timestamp(),
            host_address,
            pod_address: &pod_address,
            behavior: &behavior,
            may_exit,
        };
        let Some(status) = next_status(pod.value(), context) else {
            return Ok(());
        };
        let patch = status_patch(pod.value(), &status);
        kubelet.patch_status(&PODS, pod, patch).await
    }

    fn pod_address(
        &mut self,
        key: &Key,
        pod: &Object,
        host_address: &str,
    ) -> Result<String, Status> {
        if is_on_host_network(pod.value()) {
            return Ok(host_address.to_owned());
        }
        match self.addresses.allocate(key) {
            Some(address) => Ok(address.to_string()),
            None => Err(Status::internal("all addresses of 10.64.0.0/16 are taken")),
        }
    }

    /// Whether the backoff after the last exit of the containers is over. If not, the Pod is
    /// enqueued again at its end.
    fn is_backoff_over(&mut self, client: &Client, key: &Key, pod: &Object) -> bool {
        let Some(start) = next_start(pod.value()) else {
            return true;
        };
        let wait = client.server().clock().until(start);
        if wait.is_zero() {
            return true;
        }
        self.queue.add_at(Instant::now() + wait, key.clone());
        false
    }

    async fn sync_node(&self, client: &Client, node: &Object) -> Result<(), Status> {
        if self.settings.borrow().is_stopped(node.name()) {
            return Ok(());
        }
        let Some(status) = ready_status(node.value(), &client.timestamp()) else {
            return Ok(());
        };
        let patch = status_patch(node.value(), &status);
        let kubelet = client.as_node(node.name());
        kubelet.patch_status(&NODES, node, patch).await
    }
}

/// When a waiting container may be started again; `None` when it runs.
fn next_start(pod: &Value) -> Option<Timestamp> {
    let container = items(pod, "/status/containerStatuses").first()?;
    container.pointer("/state/waiting")?;
    let ended: Timestamp = text(container, "/lastState/terminated/finishedAt")
        .parse()
        .ok()?;
    let seconds = crash_backoff(container["restartCount"].as_u64().unwrap_or_default());
    let backoff = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    ended.checked_add(backoff).ok()
}

fn is_on_host_network(pod: &Value) -> bool {
    pod.pointer("/spec/hostNetwork") == Some(&Value::Bool(true))
}
