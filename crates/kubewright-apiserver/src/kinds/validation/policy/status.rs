use serde_json::Value;

use super::{At, Findings};

/// `ValidateValidatingAdmissionPolicyStatusUpdate`, without what it says of conditions and of the
/// grammar of a path.
pub(in crate::kinds::validation) fn policy_status(
    object: &Value,
    _: &Value,
    findings: &mut Findings,
) {
    let status = At::top(object, "status");
    let checking = status.field("typeChecking");
    for warning in checking.field("expressionWarnings").items() {
        let text = warning.field("warning");
        if text.text().is_empty() {
            findings.required(text, "");
        }
        let place = warning.field("fieldRef");
        if place.text().trim().is_empty() {
            findings.required(place, "");
        }
    }
}
