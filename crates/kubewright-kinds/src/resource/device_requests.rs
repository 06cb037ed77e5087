//! The device requests of claims and of templates for claims.

use serde_json::{Map, Value, json};

use crate::json::{object_mut, objects_mut, set_absent};

/// `SetDefaults_ExactDeviceRequest` and `SetDefaults_DeviceSubRequest`. A claim has them in its
/// spec, and a template in the spec of its spec.
pub(super) fn default_device_requests(object: &mut Map<String, Value>) {
    let Some(mut spec) = object_mut(object, "spec") else {
        return;
    };
    if spec.contains_key("spec") {
        let Some(of_template) = object_mut(spec, "spec") else {
            return;
        };
        spec = of_template;
    }
    let requests = object_mut(spec, "devices").and_then(|devices| devices.get_mut("requests"));
    for request in objects_mut(requests) {
        if let Some(exactly) = object_mut(request, "exactly") {
            default_count(exactly);
        }
        objects_mut(request.get_mut("firstAvailable")).for_each(default_count);
    }
}

fn default_count(request: &mut Map<String, Value>) {
    set_absent(request, "allocationMode", json!("ExactCount"));
    if request.get("allocationMode") == Some(&json!("ExactCount")) {
        set_absent(request, "count", json!(1));
    }
}
