//! The binding of a Pod to a node.

use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::json::{items, text};

/// Binds a Pod to the target of a Binding (`BindingREST.setPodNodeAndMetadata`), or fails with a
/// conflict.
pub fn bind(pod: &mut Value, binding: &Value, now: &str) -> Result<(), Status> {
    let name = text(&pod["metadata"]["name"]).to_owned();
    let conflict = |why: String| Status::conflict_because(("", "pods/binding"), &name, &why);
    if pod.pointer("/metadata/deletionTimestamp").is_some() {
        return Err(conflict(format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        )));
    }
    let assigned = text(&pod["spec"]["nodeName"]);
    if !assigned.is_empty() {
        return Err(conflict(format!(
            "pod {name} is already assigned to node {assigned:?}"
        )));
    }
    if items(&pod["spec"]["schedulingGates"]).next().is_some() {
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
            conditions.retain(|present| present["type"] != "PodScheduled");
            conditions.push(condition);
        }
        None => pod["status"]["conditions"] = json!([condition]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::bind;

    #[test]
    fn second_binding_is_a_conflict() {
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
