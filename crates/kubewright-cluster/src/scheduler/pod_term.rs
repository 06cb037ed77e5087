use std::collections::BTreeSet;

use kubewright_core::{LabelOperator, LabelRequirement, LabelSelector};
use serde_json::Value;

use super::neighbour::{Labels, Namespaces};
use crate::selection::label_selector;
use crate::view::{items, text};

/// One term of a required affinity to Pods: which Pods, and how near is near.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodTerm {
    /// None selects nothing.
    selector: Option<LabelSelector>,
    namespaces: BTreeSet<String>,
    namespace_selector: Option<LabelSelector>,
    /// Nodes with the same value of this label are near each other.
    pub(super) topology_key: String,
}

impl PodTerm {
    /// The term of a Pod of that namespace with these labels: where a term names no namespaces,
    /// its Pod's own is meant.
    pub(super) fn read(term: &Value, namespace: &str, labels: &Labels) -> Self {
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

    /// Whether a Pod of that namespace with these labels is meant.
    pub(super) fn selects(&self, namespace: &str, labels: &Labels, all: &Namespaces) -> bool {
        let in_selected = || {
            let selector = self.namespace_selector.as_ref();
            let labels = all.get(namespace);
            selector.is_some_and(|selector| {
                selector.matches(|key| labels?.get(key).map(String::as_str))
            })
        };
        let is_there = self.namespaces.contains(namespace) || in_selected();
        is_there && has(self.selector.as_ref(), labels)
    }
}

/// Whether a selector selects these labels; none selects nothing.
pub(super) fn has(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.matches(|key| labels.get(key).map(String::as_str)))
}

/// The `labelSelector` of a term or constraint, with what `matchLabelKeys` and
/// `mismatchLabelKeys` add of the Pod's own labels.
pub(super) fn selector_of(written: &Value, labels: &Labels) -> Option<LabelSelector> {
    let mut selector = label_selector(written.get("labelSelector"))?;
    let own = |key: &String| labels.get(key).map(|value| vec![value.clone()]);
    for key in texts(written, "/matchLabelKeys") {
        if let Some(values) = own(&key) {
            let operator = LabelOperator::In(values);
            selector
                .requirements
                .push(LabelRequirement { key, operator });
        }
    }
    for key in texts(written, "/mismatchLabelKeys") {
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
