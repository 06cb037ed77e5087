//! Labels of Pods, nodes and namespaces.

use std::collections::BTreeMap;

use kubewright_core::LabelSelector;
use serde_json::Value;

/// The labels of an object.
pub(super) type Labels = BTreeMap<String, String>;
/// The labels of each namespace.
pub(super) type NamespaceLabels = BTreeMap<String, Labels>;

/// The labels of an object.
pub(super) fn labels(object: &Value) -> Labels {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let label = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    labels.into_iter().flatten().filter_map(label).collect()
}

/// Whether a selector matches labels. An absent selector matches nothing.
pub(super) fn matches(selector: Option<&LabelSelector>, labels: &Labels) -> bool {
    selector.is_some_and(|selector| selector.matches(|key| labels.get(key).map(String::as_str)))
}
