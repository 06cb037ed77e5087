use std::collections::BTreeMap;

use serde_json::Value;

use super::amounts::Amounts;
use super::pod_term::PodTerm;
use crate::view::{items, text};

/// The labels of an object.
pub(super) type Labels = BTreeMap<String, String>;
/// The labels of each namespace.
pub(super) type Namespaces = BTreeMap<String, Labels>;

/// What the scheduler looks at of a Pod that has a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Neighbour {
    pub(super) node: String,
    pub(super) namespace: String,
    pub(super) labels: Labels,
    /// Whether it is being deleted: it still repels and takes up room, but is not counted where
    /// Pods are spread.
    pub(super) is_leaving: bool,
    /// Which Pods it does not want near it.
    pub(super) repels: Vec<PodTerm>,
    pub(super) amounts: Amounts,
}

impl Neighbour {
    /// None for a Pod that has no node, and for one that has ended, which takes up nothing.
    pub(super) fn read(pod: &Value) -> Option<Self> {
        let has_ended = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
        let node = text(pod, "/spec/nodeName");
        if node.is_empty() || has_ended {
            return None;
        }
        Some(Self {
            node: node.to_owned(),
            namespace: text(pod, "/metadata/namespace").to_owned(),
            labels: labels(pod),
            is_leaving: pod.pointer("/metadata/deletionTimestamp").is_some(),
            repels: required(pod, "podAntiAffinity"),
            amounts: Amounts::of_pod(&pod["spec"]),
        })
    }
}

/// The labels of an object.
pub(super) fn labels(object: &Value) -> Labels {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let label = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(label).collect()
}

/// What a Pod's `podAffinity` or `podAntiAffinity` asks for without fail.
pub(super) fn required(pod: &Value, affinity: &str) -> Vec<PodTerm> {
    let list = format!("/spec/affinity/{affinity}/requiredDuringSchedulingIgnoredDuringExecution");
    let (namespace, labels) = (text(pod, "/metadata/namespace"), labels(pod));
    let terms = items(pod, &list).iter();
    terms
        .map(|term| PodTerm::read(term, namespace, &labels))
        .collect()
}
