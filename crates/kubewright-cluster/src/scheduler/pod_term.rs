//! Terms of required Pod affinity and anti-affinity.

use std::collections::BTreeSet;

use kubewright_core::{LabelOperator, LabelRequirement, LabelSelector};
use serde_json::Value;

use super::labels::{Labels, NamespaceLabels, labels, matches};
use crate::framework::{items, label_selector, text};

/// A term of a required affinity to Pods: which Pods, and within which topology domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodTerm {
    /// `None` selects nothing.
    selector: Option<LabelSelector>,
    namespaces: BTreeSet<String>,
    namespace_selector: Option<LabelSelector>,
    /// Nodes with the same value of this label are one domain.
    pub(super) topology_key: String,
}

impl PodTerm {
    /// The required terms of a Pod's `podAffinity` or `podAntiAffinity`.
    pub(super) fn required_of(pod: &Value, affinity: &str) -> Vec<Self> {
        let list =
            format!("/spec/affinity/{affinity}/requiredDuringSchedulingIgnoredDuringExecution");
        let (namespace, labels) = (text(pod, "/metadata/namespace"), labels(pod));
        let terms = items(pod, &list).iter();
        terms
            .map(|term| Self::read(term, namespace, &labels))
            .collect()
    }

    /// The term of a Pod. A term without namespaces means the namespace of its Pod.
    fn read(term: &Value, namespace: &str, labels: &Labels) -> Self {
        let mut namespaces: BTreeSet<String> = texts(term, "/namespaces").collect();
        let namespace_selector = label_selector(term.get("namespaceSelector"));
        if namespaces.is_empty() && namespace_selector.is_none() {
            namespaces.insert(namespace.to_owned());
        }
        Self {
            selector: selector_of(term, labels),
            namespaces,
            namespace_selector,
            topology_key: text(term, "/topologyKey").to_owned(),
        }
    }

    /// Whether the term selects a Pod with this namespace and these labels.
    pub(super) fn selects(
        &self,
        namespace: &str,
        pod_labels: &Labels,
        all_namespaces: &NamespaceLabels,
    ) -> bool {
        let is_namespace_selected = || {
            let selector = self.namespace_selector.as_ref();
            let labels = all_namespaces.get(namespace);
            selector.is_some_and(|selector| {
                selector.matches(|key| labels?.get(key).map(String::as_str))
            })
        };
        let is_in_namespaces = self.namespaces.contains(namespace) || is_namespace_selected();
        is_in_namespaces && matches(self.selector.as_ref(), pod_labels)
    }
}

/// The `labelSelector` of a term or constraint, with what `matchLabelKeys` and
/// `mismatchLabelKeys` add from the labels of its Pod.
pub(super) fn selector_of(constraint: &Value, pod_labels: &Labels) -> Option<LabelSelector> {
    let mut selector = label_selector(constraint.get("labelSelector"))?;
    let own = |key: &String| pod_labels.get(key).map(|value| vec![value.clone()]);
    for key in texts(constraint, "/matchLabelKeys") {
        if let Some(values) = own(&key) {
            let operator = LabelOperator::In(values);
            selector
                .requirements
                .push(LabelRequirement { key, operator });
        }
    }
    for key in texts(constraint, "/mismatchLabelKeys") {
        if let Some(values) = own(&key) {
            let operator = LabelOperator::NotIn(values);
            selector
                .requirements
                .push(LabelRequirement { key, operator });
        }
    }
    Some(selector)
}

fn texts(value: &Value, pointer: &str) -> impl Iterator<Item = String> {
    let texts = items(value, pointer).iter().filter_map(Value::as_str);
    texts.map(str::to_owned)
}
