//! Label selectors as objects hold them: `matchLabels` and `matchExpressions`.

use serde_json::{Map, Value, json};

use super::error::ParseSelectorError;
use super::label::{LabelOperator, LabelRequirement, LabelSelector};

impl LabelSelector {
    /// Reads the selector of an object: `matchLabels` and `matchExpressions`. An absent or empty
    /// one has no requirements.
    ///
    /// ```
    /// use kubewright_core::LabelSelector;
    /// use serde_json::json;
    ///
    /// let selector = LabelSelector::from_object(&json!({"matchLabels": {"app": "web"}}))?;
    /// assert_eq!(selector.to_string(), "app=web");
    /// # Ok::<(), kubewright_core::ParseSelectorError>(())
    /// ```
    pub fn from_object(value: &Value) -> Result<Self, ParseSelectorError> {
        let labels = value["matchLabels"].as_object().into_iter().flatten();
        let equal = labels.map(|(key, value)| {
            let text = value.as_str().unwrap_or_default().to_owned();
            Ok(LabelRequirement {
                key: key.clone(),
                operator: LabelOperator::In(vec![text]),
            })
        });
        let expressions = value["matchExpressions"].as_array().into_iter().flatten();
        let requirements = equal.chain(expressions.map(requirement));
        Ok(Self {
            requirements: requirements.collect::<Result<_, _>>()?,
        })
    }

    /// The selector with `matchLabels` and `matchExpressions`. `>` and `<` cannot be written so and
    /// are an error.
    pub fn to_object(&self) -> Result<Value, ParseSelectorError> {
        let mut labels = Map::new();
        let mut expressions = Vec::new();
        for LabelRequirement { key, operator } in &self.requirements {
            let (name, values) = match operator {
                LabelOperator::In(values) => match values.as_slice() {
                    [value] if !labels.contains_key(key) => {
                        labels.insert(key.clone(), json!(value));
                        continue;
                    }
                    _ => ("In", Some(values)),
                },
                LabelOperator::NotIn(values) => ("NotIn", Some(values)),
                LabelOperator::Exists => ("Exists", None),
                LabelOperator::DoesNotExist => ("DoesNotExist", None),
                LabelOperator::GreaterThan(_) | LabelOperator::LessThan(_) => {
                    return Err(ParseSelectorError::new(format!(
                        "{key}: numbers cannot be compared in the selector of an object"
                    )));
                }
            };
            let mut expression = json!({"key": key, "operator": name});
            if let Some(values) = values {
                expression["values"] = json!(values);
            }
            expressions.push(expression);
        }
        let mut object = Map::new();
        if !labels.is_empty() {
            object.insert("matchLabels".to_owned(), Value::Object(labels));
        }
        if !expressions.is_empty() {
            object.insert("matchExpressions".to_owned(), Value::Array(expressions));
        }
        Ok(Value::Object(object))
    }
}

fn requirement(expression: &Value) -> Result<LabelRequirement, ParseSelectorError> {
    let key = expression["key"].as_str().unwrap_or_default().to_owned();
    let values = || {
        let values = expression["values"].as_array().into_iter().flatten();
        values
            .map(|value| value.as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let operator = match expression["operator"].as_str().unwrap_or_default() {
        "In" => LabelOperator::In(values()),
        "NotIn" => LabelOperator::NotIn(values()),
        "Exists" => LabelOperator::Exists,
        "DoesNotExist" => LabelOperator::DoesNotExist,
        other => {
            return Err(ParseSelectorError::new(format!(
                "{other:?} is not a valid label selector operator"
            )));
        }
    };
    Ok(LabelRequirement { key, operator })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::LabelSelector;

    #[test]
    fn selector_survives_a_round_trip_through_an_object() {
        for text in ["app=web", "a in (x,y),b", "!a,b!=c", "app=web,app=api", ""] {
            let selector: LabelSelector = text.parse().unwrap();
            let object = selector.to_object().unwrap();
            let read = LabelSelector::from_object(&object).unwrap();
            let sorted = |selector: &LabelSelector| {
                let mut requirements = selector.requirements.clone();
                requirements.sort();
                requirements
            };
            assert_eq!(sorted(&read), sorted(&selector), "{text}: {object}");
        }
    }

    #[test]
    fn comparison_and_unknown_operator_are_errors() {
        let selector: LabelSelector = "size>5".parse().unwrap();
        assert!(selector.to_object().is_err());
        let unknown = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
        let error = LabelSelector::from_object(&unknown).unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"Near\" is not a valid label selector operator"
        );
    }
}
