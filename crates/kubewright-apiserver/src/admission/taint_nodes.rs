use serde_json::{Value, json};

use super::Attributes;
use crate::server::AdmissionPlugins;

/// A new node takes nothing until it was seen ready (plugin/pkg/admission/nodetaint); the node
/// lifecycle controller takes the taint away.
pub(super) fn admit(attributes: &Attributes<'_>, node: &mut Value) {
    if !attributes.is_create_of("", "Node")
        || attributes.server.admission() != AdmissionPlugins::Default
    {
        return;
    }
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    match node["spec"]["taints"].as_array_mut() {
        Some(taints) => {
            let is_there =
                |one: &Value| one["key"] == taint["key"] && one["effect"] == taint["effect"];
            if !taints.iter().any(is_there) {
                taints.push(taint);
            }
        }
        None => node["spec"]["taints"] = json!([taint]),
    }
}
