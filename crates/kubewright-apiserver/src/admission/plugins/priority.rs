//! Priority: Pods get the priority of their PriorityClass (plugin/pkg/admission/priority).

use std::sync::Arc;

use kubewright_kinds::core::POD;
use kubewright_kinds::json::text;
use kubewright_kinds::scheduling::PRIORITY_CLASS;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::admission::attributes::AdmissionAttributes;
use crate::admission::context::AdmissionContext;
use crate::store::{Key, Object};

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

/// Gives a new Pod the priority of its class; an update keeps it.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut AdmissionAttributes,
) -> Result<(), Status> {
    if !attributes.is_write() || !attributes.is_main() || !attributes.resource.is(&POD) {
        return Ok(());
    }
    let old = attributes.old.clone();
    let Some(spec) = attributes
        .object
        .as_mut()
        .map(|pod| &mut pod["spec"])
        .filter(|spec| spec.is_object())
    else {
        return Ok(());
    };
    if let Some(old) = old {
        keep(&old.value()["spec"], spec);
        return Ok(());
    }
    let name = text(&spec["priorityClassName"]);
    let class = if name.is_empty() {
        default_class(context)
    } else {
        let key = Key::new(PRIORITY_CLASS.resource_id(), None, name);
        let Some(class) = context.store.get(&key) else {
            let why = format!("no PriorityClass with name {name} was found");
            return Err(attributes.forbidden(&why));
        };
        Some(class)
    };
    set(class.as_deref().map(Object::value), spec).map_err(|why| attributes.forbidden(&why))
}

/// Sets priority and preemption policy. A Pod that specifies other values is denied.
fn set(class: Option<&Value>, spec: &mut Value) -> Result<(), String> {
    const COMPUTED: &str = "must not be provided in pod spec; priority admission controller \
         computed";
    const FROM: &str = "from the given PriorityClass name";
    let priority = class.and_then(|class| class["value"].as_i64()).unwrap_or(0);
    let policy = class
        .and_then(|class| class["preemptionPolicy"].as_str())
        .unwrap_or(DEFAULT_POLICY);
    if let Some(specified) = spec["priority"].as_i64()
        && specified != priority
    {
        return Err(format!(
            "the integer value of priority ({specified}) {COMPUTED} {priority} {FROM}"
        ));
    }
    if let Some(specified) = spec["preemptionPolicy"].as_str()
        && specified != policy
    {
        return Err(format!(
            "the string value of PreemptionPolicy ({specified}) {COMPUTED} {policy} {FROM}"
        ));
    }
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

/// The class of Pods that name none. Of several default classes it is that with the smallest value.
fn default_class(context: &AdmissionContext) -> Option<Arc<Object>> {
    let snapshot = context.store.snapshot();
    let classes = snapshot.list(PRIORITY_CLASS.resource_id(), None);
    classes
        .filter(|class| class.value()["globalDefault"] == Value::Bool(true))
        .min_by_key(|class| class.value()["value"].as_i64())
        .cloned()
}

/// Denies a second default class.
pub(super) fn validate(
    context: &AdmissionContext,
    attributes: &AdmissionAttributes,
) -> Result<(), Status> {
    let is_class = attributes.resource.is(&PRIORITY_CLASS);
    let class = attributes.object();
    if !attributes.is_write() || !is_class || class["globalDefault"] != Value::Bool(true) {
        return Ok(());
    }
    let Some(other) = default_class(context) else {
        return Ok(());
    };
    let is_itself = class["metadata"]["name"].as_str() == Some(other.name());
    if is_itself && attributes.old.is_some() {
        return Ok(());
    }
    Err(attributes.forbidden(&format!(
        "PriorityClass {} is already marked as default. Only one default can exist",
        other.name()
    )))
}
