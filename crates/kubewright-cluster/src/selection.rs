use kubewright_core::LabelSelector;
use serde_json::Value;

use kubewright_kinds as kinds;

/// The selector in `matchLabels` and `matchExpressions`; none when there is none, or when it
/// cannot be read. An empty one selects everything.
pub(super) fn label_selector(written: Option<&Value>) -> Option<LabelSelector> {
    kinds::label_selector(written?)
}

/// The selector of a map of labels (`spec.selector` of a Service); none when it is empty.
pub(super) fn equality_selector(written: Option<&Value>) -> Option<LabelSelector> {
    let selector = kinds::plain_selector(written?);
    (!selector.is_empty()).then_some(selector)
}

/// Whether the labels at `metadata.labels` are selected.
pub(super) fn selects(selector: &LabelSelector, object: &Value) -> bool {
    let labels = object.pointer("/metadata/labels");
    selector.matches(|key| labels?.get(key)?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{equality_selector, label_selector, selects};

    #[test]
    fn labels_and_expressions_must_all_hold() {
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
    fn an_empty_selector_selects_all_and_an_empty_map_none() {
        let everything = label_selector(Some(&json!({}))).unwrap();
        assert!(selects(&everything, &json!({})));
        assert_eq!(label_selector(None), None);
        assert_eq!(equality_selector(Some(&json!({}))), None);
        let odd = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
        assert_eq!(label_selector(Some(&odd)), None);
    }
}
