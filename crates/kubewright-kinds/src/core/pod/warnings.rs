//! Warnings about Pods.

use serde_json::Value;

use crate::addresses::warn_ip;
use crate::field_path::FieldPath;
use crate::pod_spec::{SpecOwner, each_container, warn_app_armor, warn_host_name, warn_pod_spec};
use crate::warning_list::Warnings;

/// Warns about a new Pod; an update has no warnings.
pub(super) fn warn(object: &Value, old: Option<&Value>, warnings: &mut Warnings) {
    if old.is_some() {
        return;
    }
    let (metadata, spec) = (
        FieldPath::new(object, "metadata"),
        FieldPath::new(object, "spec"),
    );
    // Warnings while the Pod is prepared, before all else (`applyAppArmorVersionSkew`).
    if spec.field("os").text_of("name") != "windows" {
        each_container(spec, |container| {
            warn_app_armor(metadata, spec, container, warnings)
        });
    }
    warn_host_name(metadata.field("name"), "the Pod's hostname", warnings);
    warn_pod_spec(metadata, spec, SpecOwner::Pod, warnings);
}

/// Warns about the addresses of a Pod and its node.
pub(super) fn warn_status(object: &Value, warnings: &mut Warnings) {
    let status = FieldPath::new(object, "status");
    for list in ["podIPs", "hostIPs"] {
        for address in status.field(list).items() {
            warn_ip(address.field("ip"), warnings);
        }
    }
}
