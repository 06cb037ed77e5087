use kubewright_core::{LabelOperator, LabelRequirement, LabelSelector};
use serde_json::Value;

/// Reads a selector as objects carry it (`matchLabels`, `matchExpressions`); none where there is
/// none or where it asks for what does not exist, and then it selects nothing
/// (`LabelSelectorAsSelector`).
pub(crate) fn label_selector(value: &Value) -> Option<LabelSelector> {
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
    requirements.sort_by(|one, other| one.key.cmp(&other.key));
    Some(LabelSelector { requirements })
}

/// The selector of a ReplicationController or Service: plain labels.
pub(crate) fn plain_selector(value: &Value) -> LabelSelector {
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
        let values = expression["values"].as_array().into_iter().flatten();
        let mut values: Vec<String> = values
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        values.sort();
        values
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
    fn a_selector_of_an_object_reads_as_the_one_of_a_list() {
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
