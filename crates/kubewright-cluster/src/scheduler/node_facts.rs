//! What the scheduler considers of a node.

use serde::Deserialize;
use serde_json::Value;

use super::labels::{Labels, labels};
use super::resource_amounts::ResourceAmounts;
use crate::framework::{items, text};

/// The properties of a node that decide which Pods it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeFacts {
    pub(super) name: String,
    pub(super) labels: Labels,
    pub(crate) taints: Vec<Taint>,
    pub(super) is_unschedulable: bool,
    /// How many Pods the node takes; `None` when it does not report it.
    pub(super) pod_capacity: Option<usize>,
    pub(super) allocatable: ResourceAmounts,
}

/// An entry of `spec.taints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(crate) effect: String,
}

impl NodeFacts {
    pub(crate) fn read(node: &Value) -> Self {
        Self {
            name: text(node, "/metadata/name").to_owned(),
            labels: labels(node),
            taints: items(node, "/spec/taints")
                .iter()
                .filter_map(|taint| Taint::deserialize(taint).ok())
                .collect(),
            is_unschedulable: node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)),
            pod_capacity: text(node, "/status/allocatable/pods").parse().ok(),
            allocatable: ResourceAmounts::read(node.pointer("/status/allocatable")),
        }
    }
}
