use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::Attributes;
use crate::store::{Key, Object};

const CLASSES: &str = "priorityclasses.scheduling.k8s.io";
const DEFAULT_POLICY: &str = "PreemptLowerPriority";

/// The classes that every cluster has from its start.
pub(crate) fn system_classes() -> [Value; 2] {
    let class = |name: &str, value: i64, description: &str| {
        json!({
            "metadata": {"name": name, "generation": 1},
            "value": value,
            "description": description,
            "preemptionPolicy": DEFAULT_POLICY,
        })
    };
    [
        class(
            "system-node-critical",
            2_000_001_000,
            "Used for system critical pods that must not be moved from their current node.",
        ),
        class(
            "system-cluster-critical",
            2_000_000_000,
            "Used for system critical pods that must run in the cluster, but can be moved to \
             another node if necessary.",
        ),
    ]
}

/// Gives a new Pod the priority of its class, and keeps it (plugin/pkg/admission/priority).
pub(super) fn admit(attributes: &Attributes<'_>, pod: &mut Value) -> Result<(), Status> {
    if !attributes.served.is("", "Pod") || !pod["spec"].is_object() {
        return Ok(());
    }
    if let Some(old) = attributes.old {
        keep(&old.value()["spec"], &mut pod["spec"]);
        return Ok(());
    }
    let named = pod["spec"]["priorityClassName"]
        .as_str()
        .unwrap_or_default();
    let class = match named {
        "" => default_class(attributes),
        name => {
            let found = attributes
                .server
                .store()
                .get(&Key::new(CLASSES, None, name));
            let Some(found) = found else {
                let why = format!("no PriorityClass with name {name} was found");
                return Err(attributes.forbidden(pod, &why));
            };
            Some(found)
        }
    };
    let class = class.as_deref().map(Object::value);
    let priority = class.and_then(|class| class["value"].as_i64()).unwrap_or(0);
    let policy = class
        .and_then(|class| class["preemptionPolicy"].as_str())
        .unwrap_or(DEFAULT_POLICY);
    const COMPUTED: &str = "must not be provided in pod spec; priority admission controller \
         computed";
    const FROM: &str = "from the given PriorityClass name";
    let spec = &pod["spec"];
    if let Some(given) = spec["priority"].as_i64().filter(|given| *given != priority) {
        let why = format!("the integer value of priority ({given}) {COMPUTED} {priority} {FROM}");
        return Err(attributes.forbidden(pod, &why));
    }
    let given = spec["preemptionPolicy"].as_str();
    if let Some(given) = given.filter(|given| *given != policy) {
        let what = "the string value of PreemptionPolicy";
        let why = format!("{what} ({given}) {COMPUTED} {policy} {FROM}");
        return Err(attributes.forbidden(pod, &why));
    }
    let spec = &mut pod["spec"];
    if let Some(name) = class.and_then(|class| class["metadata"]["name"].as_str()) {
        spec["priorityClassName"] = json!(name);
    }
    spec["priority"] = json!(priority);
    spec["preemptionPolicy"] = json!(policy);
    Ok(())
}

fn keep(old: &Value, spec: &mut Value) {
    for field in ["priority", "preemptionPolicy"] {
        if spec[field].is_null() && !old[field].is_null() {
            spec[field] = old[field].clone();
        }
    }
    if let Some(members) = spec.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
}

/// The class of Pods that name none: of several the one with the smallest value.
fn default_class(attributes: &Attributes<'_>) -> Option<std::sync::Arc<Object>> {
    let snapshot = attributes.server.store().snapshot();
    let classes = snapshot.list(CLASSES, None);
    classes
        .filter(|class| class.value()["globalDefault"] == Value::Bool(true))
        .min_by_key(|class| class.value()["value"].as_i64())
        .cloned()
}

/// There is one default class at most.
pub(super) fn check_class(attributes: &Attributes<'_>, class: &Value) -> Result<(), Status> {
    let is_class = attributes.served.is("scheduling.k8s.io", "PriorityClass");
    if !is_class || class["globalDefault"] != Value::Bool(true) {
        return Ok(());
    }
    let Some(other) = default_class(attributes) else {
        return Ok(());
    };
    let is_same = class["metadata"]["name"].as_str() == Some(other.name());
    if is_same && attributes.old.is_some() {
        return Ok(());
    }
    let why = format!(
        "PriorityClass {} is already marked as default. Only one default can exist",
        other.name()
    );
    Err(attributes.forbidden(class, &why))
}
