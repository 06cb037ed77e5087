use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kubewright_core::Kind;
use serde_json::{Map, Value, json};

/// What a write of the status cannot own beside the specification, as paths (`GetResetFields` of
/// the status strategies in k8s.io/kubernetes/pkg/registry and k8s.io/kube-aggregator).
pub(crate) fn reset_on_status_write(kind: &Kind) -> &'static [&'static [&'static str]] {
    match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => &[
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        ("apps", "Deployment") => &[&["metadata", "labels"]],
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
        | ("apiregistration.k8s.io", "APIService")
        | ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration")
        | ("networking.k8s.io", "ServiceCIDR")
        | ("resource.k8s.io", "ResourceClaim")
        | ("storage.k8s.io", "VolumeAttachment") => &[&["metadata"]],
        _ => &[],
    }
}

/// Whether a write of the status leaves all of the metadata as it was.
pub(crate) fn keeps_metadata_on_status_write(kind: &Kind) -> bool {
    matches!(
        (kind.group(), kind.kind.as_str()),
        (
            "flowcontrol.apiserver.k8s.io",
            "FlowSchema" | "PriorityLevelConfiguration"
        )
    )
}

/// Which fields of the metadata such a write leaves as they were.
fn kept_metadata(kind: &Kind) -> &'static [&'static str] {
    match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => &["deletionTimestamp", "ownerReferences"],
        ("apps", "Deployment") => &["labels"],
        ("apiregistration.k8s.io", "APIService") => {
            &["labels", "annotations", "finalizers", "ownerReferences"]
        }
        // `ResetObjectMetaForStatus` of k8s.io/apimachinery/pkg/apis/meta/v1.
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
        | ("networking.k8s.io", "ServiceCIDR")
        | ("resource.k8s.io", "ResourceClaim")
        | ("storage.k8s.io", "VolumeAttachment") => &[
            "deletionTimestamp",
            "generation",
            "labels",
            "annotations",
            "finalizers",
            "ownerReferences",
        ],
        _ => &[],
    }
}

/// Takes over from the stored object what a write of the status leaves as it was
/// (`PrepareForUpdate` of the same strategies).
pub(crate) fn keep_on_status_write(kind: &Kind, old: &Value, object: &mut Map<String, Value>) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in kept_metadata(kind) {
            match old["metadata"].get(field) {
                Some(stored) => metadata.insert((*field).to_owned(), stored.clone()),
                None => metadata.remove(*field),
            };
        }
    }
    match (kind.group(), kind.kind.as_str()) {
        ("", "Pod") => keep_of_pod(&old["status"], object),
        ("resource.k8s.io", "ResourceClaim") => drop_deallocated(&old["status"], object),
        _ => {}
    }
}

/// What a driver has told about a device goes with the allocation of the device.
fn drop_deallocated(old: &Value, object: &mut Map<String, Value>) {
    let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) else {
        return;
    };
    let still = allocated(status.get("allocation"));
    let mut gone = allocated(old.get("allocation"));
    gone.retain(|device| !still.contains(device));
    let Some(devices) = status.get_mut("devices").and_then(Value::as_array_mut) else {
        return;
    };
    devices.retain(|one| !gone.contains(&device(one)));
    if devices.is_empty() {
        status.remove("devices");
    }
}

fn allocated(allocation: Option<&Value>) -> BTreeSet<[String; 4]> {
    let results = allocation.and_then(|one| one.pointer("/devices/results"));
    let results = results.and_then(Value::as_array);
    results.into_iter().flatten().map(device).collect()
}

/// What tells one device, or one share of it, from another.
fn device(described: &Value) -> [String; 4] {
    ["driver", "pool", "device", "shareID"]
        .map(|field| described[field].as_str().unwrap_or_default().to_owned())
}

/// A kubelet that does not know a field does not take it away.
fn keep_of_pod(old: &Value, object: &mut Map<String, Value>) {
    let status = object.entry("status").or_insert_with(|| json!({}));
    let Some(status) = status.as_object_mut() else {
        return;
    };
    if let Some(class) = old.get("qosClass")
        && status
            .get("qosClass")
            .and_then(Value::as_str)
            .is_none_or(str::is_empty)
    {
        status.insert("qosClass".to_owned(), class.clone());
    }
    keep_generation(status, old.get("observedGeneration"));
    // There may be several of a type: the first goes with the first.
    let mut before: BTreeMap<String, VecDeque<&Value>> = BTreeMap::new();
    for condition in old["conditions"].as_array().into_iter().flatten() {
        let kind = condition["type"].to_string();
        before.entry(kind).or_default().push_back(condition);
    }
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let of_type = before.get_mut(&condition["type"].to_string());
        let Some(found) = of_type.and_then(VecDeque::pop_front) else {
            continue;
        };
        if let Some(condition) = condition.as_object_mut() {
            keep_generation(condition, found.get("observedGeneration"));
        }
    }
}

fn keep_generation(members: &mut Map<String, Value>, old: Option<&Value>) {
    let is_given = members
        .get("observedGeneration")
        .and_then(Value::as_i64)
        .is_some_and(|generation| generation != 0);
    if let Some(old) = old.filter(|_| !is_given) {
        members.insert("observedGeneration".to_owned(), old.clone());
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Kind;
    use serde_json::{Value, json};

    use super::{keep_on_status_write, keeps_metadata_on_status_write, reset_on_status_write};

    fn written(kind: &Kind, old: &Value, new: Value) -> Value {
        let Value::Object(mut object) = new else {
            panic!("an object");
        };
        keep_on_status_write(kind, old, &mut object);
        Value::Object(object)
    }

    #[test]
    fn the_status_of_a_pod_keeps_its_class_and_what_generations_were_seen() {
        let old = json!({
            "metadata": {"ownerReferences": [{"name": "a"}]},
            "status": {"qosClass": "Burstable", "observedGeneration": 2, "conditions": [
                {"type": "Ready", "observedGeneration": 2}, {"type": "Other"}]},
        });
        let new = json!({
            "metadata": {"ownerReferences": [{"name": "b"}]},
            "status": {"phase": "Running", "conditions": [
                {"type": "Other"}, {"type": "Ready", "status": "True"},
                {"type": "Ready", "status": "False"}]},
        });
        assert_eq!(
            written(&Kind::new("", "v1", "Pod"), &old, new),
            json!({
                "metadata": {"ownerReferences": [{"name": "a"}]},
                "status": {"phase": "Running", "qosClass": "Burstable", "observedGeneration": 2,
                    "conditions": [
                        {"type": "Other"},
                        {"type": "Ready", "status": "True", "observedGeneration": 2},
                        {"type": "Ready", "status": "False"}]},
            })
        );
    }

    #[test]
    fn the_status_of_a_deployment_keeps_the_labels() {
        let old = json!({"metadata": {"labels": {"a": "1"}}});
        let new = json!({"metadata": {"labels": {"a": "2"}, "annotations": {"b": "3"}}});
        assert_eq!(
            written(&Kind::new("apps", "v1", "Deployment"), &old, new),
            json!({"metadata": {"labels": {"a": "1"}, "annotations": {"b": "3"}}})
        );
    }

    #[test]
    fn the_status_of_some_kinds_keeps_what_metadata_clients_write() {
        let old = json!({"metadata": {"labels": {"a": "1"}, "generation": 3}});
        let new = || {
            json!({"metadata": {
                "name": "x", "labels": {"a": "2"}, "annotations": {"b": "3"},
                "finalizers": ["ex.io/f"], "ownerReferences": [{"name": "o"}], "generation": 4,
                "deletionTimestamp": "2026-01-01T00:00:00Z", "managedFields": [],
            }})
        };
        for (group, kind) in [
            ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
            ("networking.k8s.io", "ServiceCIDR"),
            ("resource.k8s.io", "ResourceClaim"),
            ("storage.k8s.io", "VolumeAttachment"),
        ] {
            let kind = Kind::new(group, "v1", kind);
            assert_eq!(
                written(&kind, &old, new()),
                json!({"metadata": {
                    "name": "x", "labels": {"a": "1"}, "generation": 3, "managedFields": [],
                }}),
                "{kind:?}"
            );
            assert_eq!(reset_on_status_write(&kind), [["metadata"]]);
        }
        let service = Kind::new("apiregistration.k8s.io", "v1", "APIService");
        assert_eq!(
            written(&service, &old, new()),
            json!({"metadata": {
                "name": "x", "labels": {"a": "1"}, "generation": 4,
                "deletionTimestamp": "2026-01-01T00:00:00Z", "managedFields": [],
            }})
        );
        assert_eq!(reset_on_status_write(&service), [["metadata"]]);
    }

    #[test]
    fn the_status_of_flow_control_keeps_all_metadata() {
        for kind in ["FlowSchema", "PriorityLevelConfiguration"] {
            let kind = Kind::new("flowcontrol.apiserver.k8s.io", "v1", kind);
            assert!(keeps_metadata_on_status_write(&kind));
            assert_eq!(reset_on_status_write(&kind), [["metadata"]]);
        }
        let deployment = Kind::new("apps", "v1", "Deployment");
        assert!(!keeps_metadata_on_status_write(&deployment));
    }

    #[test]
    fn what_is_told_about_a_device_goes_with_its_allocation() {
        let device = |name: &str| json!({"driver": "d", "pool": "p", "device": name});
        let old = json!({
            "metadata": {},
            "status": {"allocation": {"devices": {"results": [device("a"), device("b")]}}},
        });
        let claim = Kind::new("resource.k8s.io", "v1", "ResourceClaim");
        let told = |allocated: Value, devices: Value| {
            let status = json!({"allocation": allocated, "devices": devices});
            let written = written(&claim, &old, json!({"metadata": {}, "status": status}));
            written["status"]["devices"].clone()
        };
        let both = json!([device("a"), device("b")]);
        let one_left = json!({"devices": {"results": [device("b")]}});
        assert_eq!(told(one_left, both.clone()), json!([device("b")]));
        assert_eq!(told(Value::Null, both), Value::Null);
    }
}
