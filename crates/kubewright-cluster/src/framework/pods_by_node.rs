//! Pods by the node that they are bound to.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_apiserver::store::Key;

use super::control_loop::ObjectChange;
use super::fields::node_name;

/// The Pods that are bound to each node, whether the node exists or not. A Pod is bound once and
/// never moves.
#[derive(Debug, Default)]
pub(crate) struct PodsByNode {
    pods: BTreeMap<String, BTreeSet<Key>>,
}

impl PodsByNode {
    /// Updates the index with a change of a Pod; true when the Pod is newly bound.
    pub(crate) fn observe(&mut self, change: &ObjectChange<'_>) -> bool {
        let Some(pod) = change.after else {
            if let Some(before) = change.before {
                self.remove(node_name(before.value()), change.key);
            }
            return false;
        };
        let node = node_name(pod.value());
        if node.is_empty() {
            return false;
        }
        let pods = self.pods.entry(node.to_owned()).or_default();
        pods.insert(change.key.clone())
    }

    /// The Pods of a node.
    pub(crate) fn on(&self, node: &str) -> impl Iterator<Item = &Key> {
        self.pods.get(node).into_iter().flatten()
    }

    /// The Pods of all nodes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Key> {
        self.pods.values().flatten()
    }

    /// Whether any Pod is bound to a node.
    pub(crate) fn has_any(&self, node: &str) -> bool {
        self.pods.contains_key(node)
    }

    fn remove(&mut self, node: &str, pod: &Key) {
        if let Some(pods) = self.pods.get_mut(node) {
            pods.remove(pod);
            if pods.is_empty() {
                self.pods.remove(node);
            }
        }
    }
}
