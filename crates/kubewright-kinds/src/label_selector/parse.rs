//! Label selectors as objects contain them.

use kubewright_core::{LabelOperator, LabelRequirement, LabelSelector};
use serde_json::Value;

use crate::json::items;

/// Parses a LabelSelector (`matchLabels`, `matchExpressions`).
///
/// Returns `None` when it is absent or invalid: it selects nothing then
/// (`LabelSelectorAsSelector`).
pub fn label_selector(value: &Value) -> Option<LabelSelector> {
    let value = value.as_object()?;
    let mut requirements = Vec::new();
    let labels = value.get("matchLabels").and_then(Value::as_object);
    for (key, wanted) in labels.into_iter().flatten() {
        requirements.push(LabelRequirement {
            key: key.clone(),
            operator: LabelOperator::In(vec![wanted.as_str()?.to_owned()]),
        });
    }
    let expressions = value.get("matchExpressions").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        requirements.push(requirement(expression)?);
    }
    requirements.sort_by(|left, right| left.key.cmp(&right.key));
    Some(LabelSelector { requirements })
}

/// Parses the selector of a ReplicationController or Service, which is a map of labels.
pub fn plain_selector(value: &Value) -> LabelSelector {
    let labels = value.as_object().into_iter().flatten();
    let requirements = labels.filter_map(|(key, wanted)| {
        Some(LabelRequirement {
            key: key.clone(),
            operator: LabelOperator::In(vec![wanted.as_str()?.to_owned()]),
        })
    });
    LabelSelector {
        requirements: requirements.collect(),
    }
}

fn requirement(expression: &Value) -> Option<LabelRequirement> {
    let values = || -> Vec<String> {
        let mut sorted: Vec<String> = items(&expression["values"])
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        sorted.sort();
        sorted
    };
    let operator = match expression["operator"].as_str()? {
        "In" => LabelOperator::In(values()),
        "NotIn" => LabelOperator::NotIn(values()),
        "Exists" => LabelOperator::Exists,
        "DoesNotExist" => LabelOperator::DoesNotExist,
        _ => return None,
    };
    Some(LabelRequirement {
        key: expression["key"].as_str()?.to_owned(),
        operator,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::label_selector;

    #[test]
    fn selector_of_an_object_equals_that_of_a_query() {
        let selector = json!({
            "matchLabels": {"b": "1"},
            "matchExpressions": [
                {"key": "c", "operator": "NotIn", "values": ["y", "x"]},
                {"key": "a", "operator": "Exists"},
            ],
        });
        let selector = label_selector(&selector).unwrap();
        assert_eq!(selector.to_string(), "a,b=1,c notin (x,y)");
        assert!(label_selector(&json!({})).unwrap().is_empty());
        assert!(label_selector(&json!(null)).is_none());
    }
}
