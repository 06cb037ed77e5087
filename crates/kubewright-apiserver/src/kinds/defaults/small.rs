use serde_json::{Map, Value, json};

use super::container::{object_mut, objects_mut, set_absent};
use super::pod::round_up;

/// `SetDefaults_Namespace`.
pub(super) fn namespace(object: &mut Map<String, Value>) {
    let Some(metadata) = object_mut(object, "metadata") else {
        return;
    };
    let name = metadata.get("name").and_then(Value::as_str);
    let Some(name) = name.filter(|name| !name.is_empty()).map(str::to_owned) else {
        return;
    };
    set_absent(metadata, "labels", json!({}));
    if let Some(labels) = object_mut(metadata, "labels") {
        labels.insert("kubernetes.io/metadata.name".to_owned(), json!(name));
    }
}

/// `SetDefaults_NodeStatus`, and the singular `podCIDR`.
pub(super) fn node(object: &mut Map<String, Value>) {
    if let Some(status) = object_mut(object, "status") {
        if let Some(capacity) = status.get("capacity").cloned() {
            set_absent(status, "allocatable", capacity);
        }
        round_up(status, &["capacity", "allocatable"]);
    }
    if let Some(spec) = object_mut(object, "spec") {
        settle_first(spec, "podCIDR", "podCIDRs");
    }
}

/// A field that is the first of a list: it rules where both are given and differ.
fn settle_first(holder: &mut Map<String, Value>, one: &str, list: &str) {
    let first = holder.get(list).and_then(|list| list.get(0)).cloned();
    match (holder.get(one).cloned(), first) {
        (Some(single), first) if first.as_ref() != Some(&single) => {
            holder.insert(list.to_owned(), json!([single]));
        }
        (None, Some(first)) => {
            holder.insert(one.to_owned(), first);
        }
        _ => {}
    }
}

/// `SetDefaults_LimitRangeItem`: the largest amount is the limit, the limit or the smallest the
/// request.
pub(super) fn limit_range(object: &mut Map<String, Value>) {
    const LISTS: [&str; 5] = [
        "max",
        "min",
        "default",
        "defaultRequest",
        "maxLimitRequestRatio",
    ];
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    for item in objects_mut(spec.get_mut("limits")) {
        round_up(item, &LISTS);
        if item.get("type") != Some(&json!("Container")) {
            continue;
        }
        let amounts = |item: &Map<String, Value>, name: &str| {
            let found = item.get(name).and_then(Value::as_object);
            found.cloned().unwrap_or_default()
        };
        let (mut limits, mut requests) =
            (amounts(item, "default"), amounts(item, "defaultRequest"));
        for (name, amount) in amounts(item, "max") {
            limits.entry(name).or_insert(amount);
        }
        for (name, amount) in limits.clone().into_iter().chain(amounts(item, "min")) {
            requests.entry(name).or_insert(amount);
        }
        for (name, amounts) in [("default", limits), ("defaultRequest", requests)] {
            if !amounts.is_empty() {
                item.insert(name.to_owned(), Value::Object(amounts));
            }
        }
    }
}

/// Amounts are counted in thousandths.
pub(super) fn resource_quota(object: &mut Map<String, Value>) {
    if let Some(spec) = object_mut(object, "spec") {
        round_up(spec, &["hard"]);
    }
    if let Some(status) = object_mut(object, "status") {
        round_up(status, &["hard", "used"]);
    }
}

/// Amounts are counted in thousandths.
pub(super) fn claim(object: &mut Map<String, Value>) {
    let resources = object_mut(object, "spec").and_then(|spec| object_mut(spec, "resources"));
    if let Some(resources) = resources {
        round_up(resources, &["limits", "requests"]);
    }
    if let Some(status) = object_mut(object, "status") {
        round_up(status, &["capacity", "allocatedResources"]);
    }
}

/// Amounts are counted in thousandths.
pub(super) fn volume(object: &mut Map<String, Value>) {
    if let Some(spec) = object_mut(object, "spec") {
        round_up(spec, &["capacity"]);
    }
}

/// What converting to version 2 and back fills in.
pub(super) fn old_autoscaler(object: &mut Map<String, Value>) {
    if let Some(spec) = object_mut(object, "spec") {
        set_absent(spec, "targetCPUUtilizationPercentage", json!(80));
    }
}

/// `SetDefaults_NetworkPolicy`.
pub(super) fn network_policy(object: &mut Map<String, Value>) {
    let Some(spec) = object_mut(object, "spec") else {
        return;
    };
    let is_filled = |value: Option<&Value>| {
        value
            .and_then(Value::as_array)
            .is_some_and(|items| !items.is_empty())
    };
    if is_filled(spec.get("policyTypes")) {
        return;
    }
    let types = match is_filled(spec.get("egress")) {
        true => json!(["Ingress", "Egress"]),
        false => json!(["Ingress"]),
    };
    spec.insert("policyTypes".to_owned(), types);
}

/// `SetDefaults_Subject`.
pub(super) fn subjects(object: &mut Map<String, Value>) {
    for subject in objects_mut(object.get_mut("subjects")) {
        let is_person = matches!(
            subject.get("kind").and_then(Value::as_str),
            Some("User" | "Group")
        );
        if is_person {
            set_absent(subject, "apiGroup", json!("rbac.authorization.k8s.io"));
        }
    }
}

/// `SetDefaults_ExactDeviceRequest` and `SetDefaults_DeviceSubRequest`: who asks for devices by
/// number asks for one.
pub(super) fn devices(object: &mut Map<String, Value>) {
    let spec = match object
        .get("spec")
        .is_some_and(|spec| spec.get("spec").is_some())
    {
        true => object_mut(object, "spec").and_then(|spec| object_mut(spec, "spec")),
        false => object_mut(object, "spec"),
    };
    let requests = spec
        .and_then(|spec| object_mut(spec, "devices"))
        .and_then(|devices| devices.get_mut("requests"));
    for request in objects_mut(requests) {
        if let Some(exactly) = object_mut(request, "exactly") {
            count_one(exactly);
        }
        objects_mut(request.get_mut("firstAvailable")).for_each(count_one);
    }
}

fn count_one(request: &mut Map<String, Value>) {
    set_absent(request, "allocationMode", json!("ExactCount"));
    if request.get("allocationMode") == Some(&json!("ExactCount")) {
        set_absent(request, "count", json!(1));
    }
}
