//! Which Pods a set selects, by their labels and by their namespace.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use crate::SidecarSet;
use crate::names::NAMESPACE_NAME_LABEL;
use crate::selector::{is_empty, matches};

/// Namespaces whose Pods never get sidecars, so that a cluster starts without this operator.
pub(crate) const EXEMPT_NAMESPACES: [&str; 2] = ["kube-system", "kube-public"];

/// The namespace of a Pod.
#[derive(Clone, Copy, Debug)]
pub struct PodNamespace<'a> {
    /// The name.
    pub name: &'a str,
    /// The labels; none while the cache does not have the namespace.
    pub labels: Option<&'a BTreeMap<String, String>>,
}

impl PodNamespace<'_> {
    /// Whether a selector selects the namespace; none if that depends on labels that are not known.
    pub fn is_selected_by(&self, selector: &LabelSelector) -> Option<bool> {
        if let Some(labels) = self.labels {
            return Some(matches(selector, labels));
        }
        let labels = selector.match_labels.iter().flatten().map(|(key, _)| key);
        let expressions = selector.match_expressions.iter().flatten();
        let mut keys = labels.chain(expressions.map(|requirement| &requirement.key));
        keys.all(|key| key == NAMESPACE_NAME_LABEL).then(|| {
            let implied = BTreeMap::from([(NAMESPACE_NAME_LABEL.to_owned(), self.name.to_owned())]);
            matches(selector, &implied)
        })
    }
}

/// Whether the set selects the Pod; none if that depends on labels of the namespace that are not
/// known.
pub fn selects(set: &SidecarSet, pod: &Pod, namespace: PodNamespace<'_>) -> Option<bool> {
    let Some(selector) = &set.spec.selector else {
        return Some(false);
    };
    let is_exempt = EXEMPT_NAMESPACES.contains(&namespace.name);
    if is_exempt || is_empty(selector) || !matches(selector, pod.labels()) {
        return Some(false);
    }
    match &set.spec.namespace_selector {
        None => Some(true),
        Some(namespaces) => namespace.is_selected_by(namespaces),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{PodNamespace, selects};
    use crate::SidecarSet;

    fn selected(spec: Value, name: &str, labels: Option<Value>) -> Option<bool> {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        let set: SidecarSet = serde_json::from_value(set).unwrap();
        let pod = json!({"metadata": {"labels": {"app": "web"}}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let known_labels: Option<BTreeMap<_, _>> =
            labels.map(|labels| serde_json::from_value(labels).unwrap());
        let namespace = PodNamespace {
            name,
            labels: known_labels.as_ref(),
        };
        selects(&set, &pod, namespace)
    }

    #[test]
    fn set_selects_pods_that_both_selectors_match() {
        let web = json!({"matchLabels": {"app": "web"}});
        let team = json!({"matchLabels": {"team": "a"}});
        let named = json!({"matchLabels": {"kubernetes.io/metadata.name": "x"}});
        let both = json!({"selector": web, "namespaceSelector": team});
        for (spec, name, labels, expected) in [
            (json!({"selector": web}), "x", None, Some(true)),
            (json!({"selector": web}), "kube-system", None, Some(false)),
            (json!({"selector": web}), "kube-public", None, Some(false)),
            (json!({"selector": {}}), "x", None, Some(false)),
            (json!({}), "x", None, Some(false)),
            (both.clone(), "x", Some(json!({"team": "a"})), Some(true)),
            (both.clone(), "x", Some(json!({"team": "b"})), Some(false)),
            (both.clone(), "x", Some(json!({})), Some(false)),
            (both, "x", None, None),
            (
                json!({"selector": web, "namespaceSelector": named}),
                "x",
                None,
                Some(true),
            ),
            (
                json!({"selector": web, "namespaceSelector": named}),
                "y",
                None,
                Some(false),
            ),
        ] {
            let text = format!("{spec} in {name} {labels:?}");
            assert_eq!(selected(spec, name, labels), expected, "{text}");
        }
    }
}
