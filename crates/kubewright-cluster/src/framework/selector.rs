//! Label selectors, read from the specs of objects.

use kubewright_core::LabelSelector;
use kubewright_kinds as kinds;
use serde_json::Value;

/// The selector of `matchLabels` and `matchExpressions`; `None` when it is absent or invalid. An
/// empty selector selects everything.
pub(crate) fn label_selector(selector: Option<&Value>) -> Option<LabelSelector> {
    kinds::label_selector(selector?)
}

/// The selector of a map of labels, such as `spec.selector` of a Service; `None` when it is absent
/// or empty.
pub(crate) fn plain_selector(labels: Option<&Value>) -> Option<LabelSelector> {
    let selector = kinds::plain_selector(labels?);
    (!selector.is_empty()).then_some(selector)
}

/// Whether a selector matches the labels of an object.
pub(crate) fn selects(selector: &LabelSelector, object: &Value) -> bool {
    let labels = object.pointer("/metadata/labels");
    selector.matches(|key| labels?.get(key)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{label_selector, plain_selector, selects};

    #[test]
    fn selector_matches_when_all_labels_and_expressions_match() {
        let written = json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["db"]}],
        });
        let selector = label_selector(Some(&written)).unwrap();
        let is_selected =
            |labels: Value| selects(&selector, &json!({"metadata": {"labels": labels}}));
        assert!(is_selected(json!({"app": "web"})));
        assert!(!is_selected(json!({"app": "web", "tier": "db"})));
        assert!(!is_selected(json!({"tier": "web"})));
    }

    #[test]
    fn empty_label_selector_selects_all_and_empty_map_selects_none() {
        let everything = label_selector(Some(&json!({}))).unwrap();
        assert!(selects(&everything, &json!({})));
        assert_eq!(label_selector(None), None);
        assert_eq!(plain_selector(Some(&json!({}))), None);
        let unknown = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        assert_eq!(label_selector(Some(&unknown)), None);
    }
}
