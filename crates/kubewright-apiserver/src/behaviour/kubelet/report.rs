use std::collections::{BTreeMap, BTreeSet};

use kubewright_wire::status::Status;
use serde_json::Value;

use super::addresses::Addresses;
use super::node_status::{host_address, ready};
use super::pod_status::{Surroundings, next_status};
use crate::behaviour::cluster::{Deletion, NODES, PODS};
use crate::behaviour::view::{status_patch, text};
use crate::behaviour::{Cluster, Controller, Event, Step, Work};
use crate::store::{Key, Object};

/// The kubelets of all nodes.
#[derive(Debug, Default)]
pub(in crate::behaviour) struct Kubelet {
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

    async fn step(&mut self, cluster: &Cluster) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            None => Ok(()),
            Some(node) if key.resource() == "nodes" => tend_node(cluster, &node).await,
            Some(pod) => self.tend_pod(cluster, &key, &pod).await,
        };
        self.work.settle(key, result);
        Step::Worked
    }
}

impl Kubelet {
    fn observe_node(&mut self, event: &Event<'_>) {
        if event.now.is_none() {
            return;
        }
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

    async fn tend_pod(&mut self, cluster: &Cluster, key: &Key, pod: &Object) -> Result<(), Status> {
        let name = node_of(pod);
        let Some(node) = cluster.store().get(&Key::new("nodes", None, name)) else {
            return Ok(());
        };
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
        let around = Surroundings {
            now: &cluster.timestamp(),
            host_address,
            pod_address: &pod_address,
        };
        match next_status(pod.value(), around) {
            None => Ok(()),
            Some(status) => {
                let patch = status_patch(pod.value(), &status);
                kubelet.patch_status(&PODS, pod, patch).await
            }
        }
    }
}

async fn tend_node(cluster: &Cluster, node: &Object) -> Result<(), Status> {
    let Some(status) = ready(node.value(), &cluster.timestamp()) else {
        return Ok(());
    };
    let kubelet = cluster.acting_as(&format!("system:node:{}", node.name()));
    let patch = status_patch(node.value(), &status);
    kubelet.patch_status(&NODES, node, patch).await
}

fn node_of(pod: &Object) -> &str {
    text(pod.value(), "/spec/nodeName")
}

fn is_on_host_network(pod: &Value) -> bool {
    pod.pointer("/spec/hostNetwork") == Some(&Value::Bool(true))
}
