//! TaintNodesByCondition: no Pod is scheduled to a new node until it is ready
//! (plugin/pkg/admission/nodetaint). The node lifecycle controller removes the taint.

use kubewright_kinds::core::NODE;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;

pub(super) fn mutate(
    _: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_create() || !attributes.is_main() || !attributes.resource.is(&NODE) {
        return Ok(());
    }
    let Some(node) = &mut attributes.object else {
        return Ok(());
    };
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    let Some(taints) = node["spec"]["taints"].as_array_mut() else {
        node["spec"]["taints"] = json!([taint]);
        return Ok(());
    };
    let is_equal =
        |known: &Value| known["key"] == taint["key"] && known["effect"] == taint["effect"];
    if !taints.iter().any(is_equal) {
        taints.push(taint);
    }
    Ok(())
}
