use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::behaviour::view::{items, text};

/// What the scheduler looks at of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeFacts {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) taints: Vec<Taint>,
    pub(super) is_unschedulable: bool,
    /// How many Pods may run there; none when the node does not say.
    pub(super) pod_capacity: Option<usize>,
}

/// One entry of `spec.taints`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Taint {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) effect: String,
}

impl NodeFacts {
    pub(super) fn read(node: &Value) -> Self {
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
        }
    }
}
