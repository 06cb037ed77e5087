//! The selector and the template of workloads.

use serde_json::Value;

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::label_selector::{SelectorValues, label_selector, validate_label_selector};
use crate::pod_spec::validate_template;

/// Validates the selector and the template of a Deployment or ReplicaSet.
pub(crate) fn validate_selector_and_template(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let selector = spec.field("selector");
    let before = errors.count();
    if selector.is_set() {
        validate_label_selector(selector, SelectorValues::Checked, errors);
        let is_empty = ["matchLabels", "matchExpressions"]
            .iter()
            .all(|field| selector.field(field).is_empty());
        if is_empty {
            errors.invalid(selector, "empty selector is invalid for deployment");
        }
    } else {
        errors.required(selector, "");
    }
    let is_valid = errors.count() == before;
    if is_valid || selector.is_empty() {
        validate_replicas_template(spec, errors);
    } else {
        errors.invalid(selector, "invalid label selector");
    }
}

/// `ValidatePodTemplateSpecForReplicaSet`.
fn validate_replicas_template(spec: FieldPath<'_>, errors: &mut ErrorList) {
    let template = spec.field("template");
    let selector = spec.field("selector");
    let metadata = template.field("metadata");
    let labels = metadata.field("labels");
    // An absent selector selects nothing, and an empty one everything.
    let selects_all = selector.is_set() && selector.is_empty();
    let is_selected = selector.is_set() && selects(selector.value(), labels.value());
    if !selects_all && !is_selected {
        errors.invalid(labels, "`selector` does not match template `labels`");
    }
    validate_template(template, errors);
    let pod = template.field("spec");
    let restart = pod.field("restartPolicy");
    if restart.text() != "Always" {
        errors.unsupported(restart, &["Always"]);
    }
    if pod.has("activeDeadlineSeconds") {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        errors.forbidden(pod.field("activeDeadlineSeconds"), detail);
    }
}

/// Whether a label selector matches labels.
fn selects(selector: &Value, labels: &Value) -> bool {
    let parsed = label_selector(selector);
    parsed.is_some_and(|parsed| parsed.matches(|key| labels.get(key)?.as_str()))
}
