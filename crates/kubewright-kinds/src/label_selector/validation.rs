//! Validation of labels and label selectors.

use kubewright_core::format::{label_value, qualified_name};
use serde_json::Value;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// `ValidateLabels`. Errors have the path of the map, not of the entry.
pub(crate) fn validate_labels(at: FieldPath<'_>, errors: &mut ErrorList) {
    for (key, value) in at.entries() {
        for problem in qualified_name(key) {
            errors.invalid_value(at, &Value::from(key), &problem);
        }
        for problem in label_value(value.text()) {
            errors.invalid_value(at, value.value(), &problem);
        }
    }
}

/// Whether the values of a selector are validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectorValues {
    /// They must be label values.
    Checked,
    /// They may be anything.
    Any,
}

/// `ValidateLabelSelector`.
pub(crate) fn validate_label_selector(
    at: FieldPath<'_>,
    values: SelectorValues,
    errors: &mut ErrorList,
) {
    validate_labels(at.field("matchLabels"), errors);
    for requirement in at.field("matchExpressions").items() {
        match requirement.text_of("operator") {
            "In" | "NotIn" if requirement.field("values").is_empty() => errors.required(
                requirement.field("values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            "Exists" | "DoesNotExist" if !requirement.field("values").is_empty() => errors
                .forbidden(
                    requirement.field("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                errors.invalid_text(
                    requirement.field("operator"),
                    "not a valid selector operator",
                );
            }
        }
        let key = requirement.field("key");
        errors.problems(key, qualified_name(key.text()));
        if values == SelectorValues::Checked {
            for value in requirement.field("values").items() {
                errors.problems(value, label_value(value.text()));
            }
        }
    }
}
