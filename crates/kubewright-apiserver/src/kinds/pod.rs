use kubewright_wire::status::Status;
use serde_json::{Map, Value, json};

use super::quality_of_service;
use crate::store::Object;

/// How long a Pod may take to end: what the delete asks for, else what the Pod asks for; nothing
/// for a Pod that no kubelet runs (`podStrategy.CheckGracefulDelete`).
pub(crate) fn grace_period(pod: &Object, asked: Option<i64>) -> i64 {
    let spec = |field: &str| pod.value().get("spec").and_then(|spec| spec.get(field));
    let phase = pod.value().pointer("/status/phase").and_then(Value::as_str);
    let is_scheduled = spec("nodeName")
        .and_then(Value::as_str)
        .is_some_and(|node| !node.is_empty());
    if !is_scheduled || matches!(phase, Some("Succeeded" | "Failed")) {
        return 0;
    }
    let wanted = asked
        .or_else(|| spec("terminationGracePeriodSeconds").and_then(Value::as_i64))
        // The default that the kind's own defaults will fill in at creation.
        .unwrap_or(30);
    if wanted < 0 { 1 } else { wanted }
}

/// A new Pod is pending, and says how far it can rely on what it asks for.
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

/// The Pod bound to the target of a Binding (`BindingREST.setPodNodeAndMetadata`).
pub(crate) fn bind(pod: &mut Value, binding: &Value, now: &str) -> Result<(), Status> {
    let name = text(pod, "/metadata/name");
    let conflict = |why: String| Status::conflict_because(("", "pods/binding"), &name, &why);
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return Err(conflict(format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        )));
    }
    let assigned = text(pod, "/spec/nodeName");
    if !assigned.is_empty() {
        return Err(conflict(format!(
            "pod {name} is already assigned to node {assigned:?}"
        )));
    }
    let gates = pod
        .pointer("/spec/schedulingGates")
        .and_then(Value::as_array);
    if gates.is_some_and(|gates| !gates.is_empty()) {
        return Err(conflict(format!(
            "pod {name} has non-empty .spec.schedulingGates"
        )));
    }
    if pod.get("spec").is_none_or(|spec| !spec.is_object()) {
        pod["spec"] = json!({});
    }
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    copy_entries(pod, binding, "annotations");
    copy_entries(pod, binding, "labels");
    set_scheduled(pod, now);
    Ok(())
}

fn copy_entries(pod: &mut Value, binding: &Value, field: &str) {
    let Some(entries) = binding["metadata"][field].as_object() else {
        return;
    };
    for (key, value) in entries {
        pod["metadata"][field][key] = value.clone();
    }
}

fn set_scheduled(pod: &mut Value, now: &str) {
    let condition = json!({
        "type": "PodScheduled", "status": "True",
        "lastProbeTime": null, "lastTransitionTime": now,
    });
    if pod.get("status").is_none_or(|status| !status.is_object()) {
        pod["status"] = json!({});
    }
    match pod["status"]["conditions"].as_array_mut() {
        Some(conditions) => {
            conditions.retain(|one| one["type"] != "PodScheduled");
            conditions.push(condition);
        }
        None => pod["status"]["conditions"] = json!([condition]),
    }
}

fn text(value: &Value, pointer: &str) -> String {
    let text = value.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{bind, grace_period};
    use crate::store::Object;

    fn grace(pod: Value, asked: Option<i64>) -> i64 {
        grace_period(&Object::new(pod, Revision::new(1)), asked)
    }

    #[test]
    fn only_a_pod_on_a_node_is_given_time_to_end() {
        let spec = json!({"nodeName": "n", "terminationGracePeriodSeconds": 5});
        assert_eq!(grace(json!({"spec": spec}), None), 5);
        assert_eq!(grace(json!({"spec": spec}), Some(2)), 2);
        assert_eq!(grace(json!({"spec": spec}), Some(-7)), 1);
        assert_eq!(grace(json!({"spec": {}}), Some(9)), 0);
        let done = json!({"spec": spec, "status": {"phase": "Succeeded"}});
        assert_eq!(grace(done, None), 0);
    }

    #[test]
    fn a_pod_is_bound_once() {
        let mut pod = json!({"metadata": {"name": "p"}, "spec": {}});
        let binding = json!({"target": {"kind": "Node", "name": "n1"}});
        bind(&mut pod, &binding, "2026-01-01T00:00:00Z").unwrap();
        assert_eq!(pod["spec"]["nodeName"], "n1");
        assert_eq!(pod["status"]["conditions"][0]["type"], "PodScheduled");
        let again = bind(&mut pod, &binding, "2026-01-01T00:00:01Z").unwrap_err();
        assert_eq!(
            again.message,
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\""
        );
    }
}
