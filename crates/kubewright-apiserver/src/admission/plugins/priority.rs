//! Priority: Pods get the priority of their PriorityClass (plugin/pkg/admission/priority).

use std::sync::Arc;

use kubewright_core::Operation;
use kubewright_kinds::core::POD;
use kubewright_kinds::scheduling::PRIORITY_CLASS;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use crate::admission::attributes::Attributes;
use crate::admission::context::AdmissionContext;
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

/// Gives a new Pod the priority of its class; an update keeps it.
pub(super) fn mutate(
    context: &AdmissionContext,
    attributes: &mut Attributes,
) -> Result<(), Status> {
    let is_write = matches!(attributes.operation, Operation::Create | Operation::Update);
    if !is_write || !attributes.is_main() || !attributes.resource.is(&POD) {
        return Ok(());
    }
    let old = attributes.old.clone();
    let pod = attributes.object.as_mut();
    let Some(spec) = pod
        .map(|pod| &mut pod["spec"])
        .filter(|spec| spec.is_object())
    else {
        return Ok(());
    };
    if let Some(old) = old {
        keep(&old.value()["spec"], spec);
        return Ok(());
    }
    let named = spec["priorityClassName"].as_str().unwrap_or_default();
    let class = if named.is_empty() {
        default_class(context)
    } else {
        let found = context.store.get(&Key::new(CLASSES, None, named));
        let Some(found) = found else {
            let why = format!("no PriorityClass with name {named} was found");
            return Err(attributes.forbidden(&why));
        };
        Some(found)
    };
    set(class.as_deref().map(Object::value), spec).map_err(|why| attributes.forbidden(&why))
}

/// Sets priority and preemption policy. A Pod that sets others itself is denied.
fn set(class: Option<&Value>, spec: &mut Value) -> Result<(), String> {
    const COMPUTED: &str = "must not be provided in pod spec; priority admission controller \
         computed";
    const FROM: &str = "from the given PriorityClass name";
    let priority = class.and_then(|class| class["value"].as_i64()).unwrap_or(0);
    let policy = class
        .and_then(|class| class["preemptionPolicy"].as_str())
        .unwrap_or(DEFAULT_POLICY);
    if let Some(given) = spec["priority"].as_i64().filter(|given| *given != priority) {
        return Err(format!(
            "the integer value of priority ({given}) {COMPUTED} {priority} {FROM}"
        ));
    }
    let given = spec["preemptionPolicy"].as_str();
    if let Some(given) = given.filter(|given| *given != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({given}) {COMPUTED} {policy} {FROM}"
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

/// The class of Pods that name none: of several, the one with the smallest value.
fn default_class(context: &AdmissionContext) -> Option<Arc<Object>> {
    let snapshot = context.store.snapshot();
    let classes = snapshot.list(CLASSES, None);
    classes
        .filter(|class| class.value()["globalDefault"] == Value::Bool(true))
        .min_by_key(|class| class.value()["value"].as_i64())
        .cloned()
}

/// There is one default class at most.
pub(super) fn validate(context: &AdmissionContext, attributes: &Attributes) -> Result<(), Status> {
    let is_write = matches!(attributes.operation, Operation::Create | Operation::Update);
    let is_class = attributes.resource.is(&PRIORITY_CLASS);
    let class = attributes.object();
    if !is_write || !is_class || class["globalDefault"] != Value::Bool(true) {
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
