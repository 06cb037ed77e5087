//! What the scheduler considers of a Pod that has a node.

use serde_json::Value;

use super::labels::{Labels, labels};
use super::pod_term::PodTerm;
use super::resource_amounts::ResourceAmounts;
use crate::framework::{has_ended, node_name, text};

/// A Pod that has a node and takes up resources there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlacedPod {
    pub(super) node: String,
    pub(super) namespace: String,
    pub(super) labels: Labels,
    /// A terminating Pod keeps its resources and its anti-affinity, but does not count for
    /// topology spread.
    pub(super) is_terminating: bool,
    /// The terms of its required anti-affinity.
    pub(super) anti_affinity: Vec<PodTerm>,
    pub(super) requests: ResourceAmounts,
}

impl PlacedPod {
    /// `None` for a Pod without a node, and for an ended Pod, which takes up nothing.
    pub(super) fn read(pod: &Value) -> Option<Self> {
        let node = node_name(pod);
        if node.is_empty() || has_ended(pod) {
            return None;
        }
        Some(Self {
            node: node.to_owned(),
            namespace: text(pod, "/metadata/namespace").to_owned(),
            labels: labels(pod),
            is_terminating: pod.pointer("/metadata/deletionTimestamp").is_some(),
            anti_affinity: PodTerm::required_of(pod, "podAntiAffinity"),
            requests: ResourceAmounts::requested_by(pod),
        })
    }
}
