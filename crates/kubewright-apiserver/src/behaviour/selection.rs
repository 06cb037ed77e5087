use kubewright_core::{LabelOperator, LabelRequirement, LabelSelector};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A selector as specifications carry it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<Expression>,
}

#[derive(Deserialize)]
struct Expression {
    key: String,
    operator: String,
    #[serde(default)]
    values: Vec<String>,
}

/// The selector in `matchLabels` and `matchExpressions`; none when there is none, or when it
/// cannot be read. An empty one selects everything (`LabelSelectorAsSelector`).
pub(super) fn label_selector(written: Option<&Value>) -> Option<LabelSelector> {
    let written = Written::deserialize(written?).ok()?;
    let labels = written.match_labels.into_iter();
    let mut requirements: Vec<_> = labels
        .map(|(key, value)| LabelRequirement {
            key,
            operator: LabelOperator::In(vec![value]),
        })
        .collect();
    for Expression {
        key,
        operator,
        values,
    } in written.match_expressions
    {
        let operator = match operator.as_str() {
            "In" => LabelOperator::In(values),
            "NotIn" => LabelOperator::NotIn(values),
            "Exists" => LabelOperator::Exists,
            "DoesNotExist" => LabelOperator::DoesNotExist,
            _ => return None,
        };
        requirements.push(LabelRequirement { key, operator });
    }
    Some(LabelSelector { requirements })
}

/// The selector of a map of labels (`spec.selector` of a Service); none when it is empty.
pub(super) fn equality_selector(written: Option<&Value>) -> Option<LabelSelector> {
    let labels = written.and_then(Value::as_object)?.iter();
    let requirements: Vec<_> = labels
        .map(|(key, value)| LabelRequirement {
            key: key.clone(),
            operator: LabelOperator::In(vec![value.as_str().unwrap_or_default().to_owned()]),
        })
        .collect();
    (!requirements.is_empty()).then_some(LabelSelector { requirements })
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
