//! Tolerations.

use kubewright_core::format::{label_value, qualified_name};
use serde_json::json;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

/// `ValidateTolerations`.
pub(crate) fn validate_tolerations(at: FieldPath<'_>, errors: &mut ErrorList) {
    for toleration in at.items() {
        let key = toleration.field("key");
        let operator = toleration.field("operator");
        let effect = toleration.field("effect");
        let value = json!(toleration.text_of("value"));
        if !key.text().is_empty() {
            errors.problems(key, qualified_name(key.text()));
        } else if operator.text() != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all \
                          values and all keys\"";
            errors.invalid_text(operator, detail);
        }
        if toleration.has("tolerationSeconds") && effect.text() != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            errors.invalid_text(effect, detail);
        }
        match operator.text() {
            "" | "Equal" => {
                let problems = label_value(toleration.text_of("value"));
                if !problems.is_empty() {
                    errors.invalid_value(operator, &value, &problems.join(";"));
                }
            }
            "Exists" if !toleration.text_of("value").is_empty() => {
                let detail = "value must be empty when `operator` is 'Exists'";
                errors.invalid_value(operator, &value, detail);
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                errors.unsupported(operator, &["Equal", "Exists", "Lt", "Gt"]);
            }
            _ => errors.unsupported(operator, &["Equal", "Exists"]),
        }
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if !effect.text().is_empty() && !effects.contains(&effect.text()) {
            errors.unsupported(effect, &effects);
        }
    }
}
