use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;
use serde_json::json;

use crate::SidecarSet;

/// Namespaces whose Pods are never touched: a cluster must start without this operator.
const SPARED: [&str; 2] = ["kube-system", "kube-public"];

/// Whether the set is for this Pod, which is or will be in `namespace`.
pub fn selects(set: &SidecarSet, pod: &Pod, namespace: &str) -> bool {
    let Some(selector) = &set.spec.selector else {
        return false;
    };
    !SPARED.contains(&namespace) && !is_empty(selector) && matches(selector, pod.labels())
}

/// Whether a selector asks for nothing, and so would select every Pod.
pub(crate) fn is_empty(selector: &LabelSelector) -> bool {
    let labels = selector.match_labels.as_ref();
    let expressions = selector.match_expressions.as_ref();
    labels.is_none_or(BTreeMap::is_empty) && expressions.is_none_or(Vec::is_empty)
}

/// One that does not parse selects nothing.
fn matches(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    kubewright::LabelSelector::from_object(&json!(selector))
        .is_ok_and(|selector| selector.matches(|label| labels.get(label).map(String::as_str)))
}
