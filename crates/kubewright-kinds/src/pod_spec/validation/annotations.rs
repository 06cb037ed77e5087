//! The annotations of Pods that have a meaning.

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;

const MIRROR: &str = "kubernetes.io/config.mirror";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// `ValidatePodSpecificAnnotations`.
pub(crate) fn validate_annotations(at: FieldPath<'_>, spec: FieldPath<'_>, errors: &mut ErrorList) {
    if at.has(MIRROR) && spec.text_of("nodeName").is_empty() {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid(at.key(MIRROR), detail);
    }
    let cost = at.text_of(DELETION_COST);
    let is_plain = !cost.starts_with('+') && (cost.len() == 1 || !cost.starts_with('0'));
    if !cost.is_empty() && (cost.parse::<i32>().is_err() || !is_plain) {
        errors.invalid(at.key(DELETION_COST), "must be a 32bit integer");
    }
}
