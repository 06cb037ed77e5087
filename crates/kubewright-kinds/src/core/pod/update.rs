//! What an update may change.

use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use crate::error_list::ErrorList;
use crate::field_path::FieldPath;
use crate::json::items;
use crate::pod_spec::{validate_annotations, validate_image_whitespace, validate_tolerations};

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,\
     `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
     `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

const MIRROR: &str = "kubernetes.io/config.mirror";

/// The rest of `ValidatePodUpdate`: most fields of a Pod are immutable.
pub(super) fn validate_update(object: &Value, old: &Value, errors: &mut ErrorList) {
    validate_annotations_update(object, old, errors);
    let spec = FieldPath::new(object, "spec");
    let before = &old["spec"];
    for list in ["containers", "initContainers"] {
        if !validate_images(spec.field(list), &before[list], errors) {
            return;
        }
    }
    if !validate_deadline(spec.field("activeDeadlineSeconds"), before, errors) {
        return;
    }
    validate_added_tolerations(spec.field("tolerations"), before, errors);
    validate_removed_gates(spec.field("schedulingGates"), before, errors);
    let munged = with_old_mutable_fields(object, old);
    if munged != *before {
        let detail = format!(
            "pod updates may not change fields other than {CHANGEABLE}\n{}",
            difference(before, &munged)
        );
        errors.add(Cause::forbidden("spec", &detail));
    }
}

/// `ValidatePodSpecificAnnotationUpdates`.
pub(super) fn validate_annotations_update(object: &Value, old: &Value, errors: &mut ErrorList) {
    let mirror = |pod: &Value| pod["metadata"]["annotations"][MIRROR].clone();
    let path = format!("metadata.annotations[{MIRROR}]");
    match (mirror(old), mirror(object)) {
        (before, after) if before == after => {}
        (Value::Null, _) => {
            errors.add(Cause::forbidden(&path, "may not add mirror pod annotation"));
        }
        _ => {
            let detail = "may not remove or update mirror pod annotation";
            errors.add(Cause::forbidden(&path, detail));
        }
    }
    let metadata = FieldPath::new(object, "metadata");
    let spec = FieldPath::new(object, "spec");
    validate_annotations(metadata.field("annotations"), spec, errors);
}

/// Returns whether no container was added or removed.
fn validate_images(at: FieldPath<'_>, before: &Value, errors: &mut ErrorList) -> bool {
    if at.len() != before.as_array().map_or(0, Vec::len) {
        errors.forbidden(at, "pod updates may not add or remove containers");
        return false;
    }
    for container in at.items() {
        let image = container.field("image");
        if image.text().is_empty() {
            errors.required(image, "");
        }
        validate_image_whitespace(image, errors);
    }
    true
}

/// Returns whether the deadline is valid.
fn validate_deadline(at: FieldPath<'_>, before: &Value, errors: &mut ErrorList) -> bool {
    let old = before["activeDeadlineSeconds"].as_i64();
    let Some(new) = at.number() else {
        if old.is_some() {
            let detail = "must not update from a positive integer to nil value";
            errors.invalid(at, detail);
        }
        return true;
    };
    if !(0..=i64::from(i32::MAX)).contains(&new) {
        errors.invalid(at, "must be between 0 and 2147483647, inclusive");
        return false;
    }
    if old.is_some_and(|old| old < new) {
        errors.invalid(at, "must be less than or equal to previous value");
        return false;
    }
    true
}

/// `validateOnlyAddedTolerations`.
fn validate_added_tolerations(at: FieldPath<'_>, before: &Value, errors: &mut ErrorList) {
    let timeless = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(members) = toleration.as_object_mut() {
            members.remove("tolerationSeconds");
        }
        toleration.to_string()
    };
    let now: BTreeSet<String> = at.items().map(|item| timeless(item.value())).collect();
    let mut old = items(&before["tolerations"]).map(timeless);
    if old.any(|toleration| !now.contains(&toleration)) {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return errors.forbidden(at, detail);
    }
    validate_tolerations(at, errors);
}

/// `validateOnlyDeletedSchedulingGates`.
fn validate_removed_gates(at: FieldPath<'_>, before: &Value, errors: &mut ErrorList) {
    let old: BTreeSet<&str> = items(&before["schedulingGates"])
        .filter_map(|gate| gate["name"].as_str())
        .collect();
    for gate in at.items() {
        let name = gate.text_of("name");
        if !old.contains(name) {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            errors.forbidden(gate.field("name"), &detail);
        }
    }
}

/// The new spec with the old values of everything that may change.
fn with_old_mutable_fields(object: &Value, old: &Value) -> Value {
    let mut spec = object["spec"].clone();
    let before = &old["spec"];
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for (index, container) in containers.into_iter().flatten().enumerate() {
            container["image"] = before[list][index]["image"].clone();
        }
    }
    let mut reset = |field: &str| match (spec.as_object_mut(), before.get(field)) {
        (Some(spec), Some(value)) => {
            spec.insert(field.to_owned(), value.clone());
        }
        (Some(spec), None) => {
            spec.remove(field);
        }
        (None, _) => {}
    };
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        reset(field);
    }
    let is_gated = before["schedulingGates"]
        .as_array()
        .is_some_and(|gates| !gates.is_empty());
    if is_gated && adds_only(&object["spec"]["nodeSelector"], &before["nodeSelector"]) {
        reset("nodeSelector");
    }
    spec
}

fn adds_only(new: &Value, old: &Value) -> bool {
    let mut entries = old.as_object().into_iter().flatten();
    entries.all(|(key, value)| new.get(key) == Some(value))
}

/// The top-level fields that differ, before and after.
fn difference(before: &Value, after: &Value) -> String {
    let names = |value: &Value| -> Vec<String> {
        value
            .as_object()
            .map(|members| members.keys().cloned().collect())
            .unwrap_or_default()
    };
    let mut all = names(before);
    all.extend(names(after));
    all.sort();
    all.dedup();
    let lines = all
        .iter()
        .filter(|name| before.get(name) != after.get(name))
        .map(|name| json!({name: {"before": before.get(name), "after": after.get(name)}}));
    lines
        .map(|line| line.to_string())
        .collect::<Vec<_>>()
        .join("\n")
}
