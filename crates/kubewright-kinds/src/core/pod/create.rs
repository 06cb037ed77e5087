//! What a new Pod starts with.

use serde_json::{Map, Value, json};

use crate::pod_spec::quality_of_service;

/// A new Pod is pending and has a QoS class.
pub(super) fn prepare_create(pod: &mut Map<String, Value>) {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let mut status = json!({"phase": "Pending", "qosClass": quality_of_service(spec)});
    let gates = spec["schedulingGates"].as_array();
    if gates.is_some_and(|gates| !gates.is_empty()) {
        status["conditions"] = json!([{
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastProbeTime": null, "lastTransitionTime": pod
                .get("metadata")
                .and_then(|metadata| metadata.get("creationTimestamp")),
        }]);
    }
    pod.insert("status".to_owned(), status);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::prepare_create;

    #[test]
    fn new_pod_is_pending() {
        let mut pod = json!({"spec": {}, "status": {"phase": "Running"}});
        prepare_create(pod.as_object_mut().unwrap());
        assert_eq!(
            pod["status"],
            json!({"phase": "Pending", "qosClass": "BestEffort"})
        );
    }
}
