use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::amounts::Amounts;
use crate::view::{items, text};

/// What the scheduler looks at of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeFacts {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    pub(super) is_unschedulable: bool,
    /// How many Pods may run there; none when the node does not say.
    pub(super) pod_capacity: Option<usize>,
    /// What there is of each resource.
    pub(super) room: Amounts,
}

/// One entry of `spec.taints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(crate) effect: String,
}

impl NodeFacts {
    pub(crate) fn read(node: &Value) -> Self {
        let labels = node.pointer("/metadata/labels").and_then(Value::as_object);
        let label =
            |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
        Self {
            name: text(node, "/metadata/name").to_owned(),
            labels: labels.into_iter().flatten().filter_map(label).collect(),
            taints: items(node, "/spec/taints")
                .iter()
                .filter_map(|taint| Taint::deserialize(taint).ok())
                .collect(),
            is_unschedulable: node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)),
            pod_capacity: text(node, "/status/allocatable/pods").parse().ok(),
            room: Amounts::read(node.pointer("/status/allocatable")),
        }
    }
}
