//! Validates label selectors.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::webhook::Findings;
use serde_json::json;

/// Reports a selector that the API server would reject.
pub(super) fn check_selector(selector: &LabelSelector, path: &str, findings: &mut Findings) {
    if let Err(error) = kubewright::LabelSelector::from_object(&json!(selector)) {
        findings.invalid(path, selector, &error.to_string());
    }
}
