use serde_json::Value;

use super::formats::{label_value, qualified_name};
use super::{At, Findings};

/// `ValidateLabels`: everything is told of the map as a whole.
pub(super) fn labels(at: At<'_>, findings: &mut Findings) {
    for (key, value) in at.entries() {
        for problem in qualified_name(key) {
            findings.invalid_value(at, &Value::from(key), &problem);
        }
        for problem in label_value(value.text()) {
            findings.invalid_value(at, value.value(), &problem);
        }
    }
}

/// What may be wrong with the values of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectorValues {
    /// They are values of labels.
    Checked,
    /// They are not looked at.
    Any,
}

/// `ValidateLabelSelector`.
pub(super) fn label_selector(at: At<'_>, values: SelectorValues, findings: &mut Findings) {
    labels(at.field("matchLabels"), findings);
    for requirement in at.field("matchExpressions").items() {
        match requirement.text_of("operator") {
            "In" | "NotIn" if requirement.field("values").is_empty() => findings.required(
                requirement.field("values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            "Exists" | "DoesNotExist" if !requirement.field("values").is_empty() => findings
                .forbidden(
                    requirement.field("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                findings.invalid_text(
                    requirement.field("operator"),
                    "not a valid selector operator",
                );
            }
        }
        let key = requirement.field("key");
        findings.problems(key, qualified_name(key.text()));
        if values == SelectorValues::Checked {
            for value in requirement.field("values").items() {
                findings.problems(value, label_value(value.text()));
            }
        }
    }
}

/// Whether a label selector matches labels.
pub(super) fn selects(selector: &Value, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let pairs = selector["matchLabels"].as_object().into_iter().flatten();
    let mut pairs = pairs.map(|(key, value)| label(key) == value.as_str());
    let requirements = selector["matchExpressions"]
        .as_array()
        .into_iter()
        .flatten();
    let mut requirements = requirements.map(|one| {
        let found = label(one["key"].as_str().unwrap_or_default());
        let mut values = one["values"].as_array().into_iter().flatten();
        match one["operator"].as_str().unwrap_or_default() {
            "In" => found.is_some() && values.any(|value| value.as_str() == found),
            "NotIn" => found.is_none() || values.all(|value| value.as_str() != found),
            "Exists" => found.is_some(),
            "DoesNotExist" => found.is_none(),
            _ => false,
        }
    });
    pairs.all(|fits| fits) && requirements.all(|fits| fits)
}
