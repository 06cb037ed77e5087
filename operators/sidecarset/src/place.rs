use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;

use crate::SidecarSet;
use crate::selector::{is_empty, matches};

/// Namespaces whose Pods are never touched: a cluster must start without this operator.
pub(crate) const SPARED: [&str; 2] = ["kube-system", "kube-public"];
/// The label that each namespace has.
pub(crate) const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The namespace that a Pod is or will be in.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its labels, as far as they are known.
    pub labels: Option<&'a BTreeMap<String, String>>,
}

impl Place<'_> {
    /// Whether a selector selects it; none when that cannot be told yet.
    pub fn is_selected_by(&self, selector: &LabelSelector) -> Option<bool> {
        if let Some(labels) = self.labels {
            return Some(matches(selector, labels));
        }
        let named = selector.match_labels.iter().flatten().map(|(key, _)| key);
        let expressions = selector.match_expressions.iter().flatten();
        let mut keys = named.chain(expressions.map(|one| &one.key));
        keys.all(|key| key == NAME_LABEL).then(|| {
            let implied = BTreeMap::from([(NAME_LABEL.to_owned(), self.name.to_owned())]);
            matches(selector, &implied)
        })
    }
}

/// Whether the set is for this Pod; none when that cannot be told yet.
pub fn selects(set: &SidecarSet, pod: &Pod, place: Place<'_>) -> Option<bool> {
    let Some(selector) = &set.spec.selector else {
        return Some(false);
    };
    if SPARED.contains(&place.name) || is_empty(selector) || !matches(selector, pod.labels()) {
        return Some(false);
    }
    match &set.spec.namespace_selector {
        None => Some(true),
        Some(namespaces) => place.is_selected_by(namespaces),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{Place, selects};
    use crate::SidecarSet;

    fn selected(spec: Value, name: &str, labels: Option<Value>) -> Option<bool> {
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        let set: SidecarSet = serde_json::from_value(set).unwrap();
        let pod = json!({"metadata": {"labels": {"app": "web"}}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let labels: Option<BTreeMap<_, _>> =
            labels.map(|labels| serde_json::from_value(labels).unwrap());
        let labels = labels.as_ref();
        selects(&set, &pod, Place { name, labels })
    }

    #[test]
    fn a_set_is_for_pods_that_both_selectors_select() {
        let web = json!({"matchLabels": {"app": "web"}});
        let team = json!({"matchLabels": {"team": "a"}});
        let named = json!({"matchLabels": {"kubernetes.io/metadata.name": "x"}});
        let both = json!({"selector": web, "namespaceSelector": team});
        for (spec, name, labels, wanted) in [
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
            assert_eq!(selected(spec, name, labels), wanted, "{text}");
        }
    }
}
