use std::collections::BTreeSet;

use kubewright_wire::status::Cause;
use serde_json::{Value, json};

use super::super::{At, Findings};
use super::create::{annotations_update, image_edges};
use super::tolerations::tolerations;

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,\
     `spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),\
     `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// The rest of `ValidatePodUpdate`: hardly anything of a Pod can be changed.
pub(super) fn update(object: &Value, old: &Value, findings: &mut Findings) {
    annotations_update(object, old, findings);
    let spec = At::top(object, "spec");
    let before = &old["spec"];
    for list in ["containers", "initContainers"] {
        if !images(spec.field(list), &before[list], findings) {
            return;
        }
    }
    if !deadline(spec.field("activeDeadlineSeconds"), before, findings) {
        return;
    }
    only_added_tolerations(spec.field("tolerations"), before, findings);
    only_removed_gates(spec.field("schedulingGates"), before, findings);
    let munged = munged(object, old);
    if munged != *before {
        let detail = format!(
            "pod updates may not change fields other than {CHANGEABLE}\n{}",
            difference(before, &munged)
        );
        findings.add(Cause::forbidden("spec", &detail));
    }
}

/// Whether the containers are as many as before.
fn images(at: At<'_>, before: &Value, findings: &mut Findings) -> bool {
    if at.len() != before.as_array().map_or(0, Vec::len) {
        findings.forbidden(at, "pod updates may not add or remove containers");
        return false;
    }
    for container in at.items() {
        let image = container.field("image");
        if image.text().is_empty() {
            findings.required(image, "");
        }
        image_edges(image, findings);
    }
    true
}

fn deadline(at: At<'_>, before: &Value, findings: &mut Findings) -> bool {
    let old = before["activeDeadlineSeconds"].as_i64();
    let Some(new) = at.number() else {
        if old.is_some() {
            let detail = "must not update from a positive integer to nil value";
            findings.invalid(at, detail);
        }
        return true;
    };
    if !(0..=i64::from(i32::MAX)).contains(&new) {
        findings.invalid(at, "must be between 0 and 2147483647, inclusive");
        return false;
    }
    if old.is_some_and(|old| old < new) {
        findings.invalid(at, "must be less than or equal to previous value");
        return false;
    }
    true
}

/// `validateOnlyAddedTolerations`.
fn only_added_tolerations(at: At<'_>, before: &Value, findings: &mut Findings) {
    let timeless = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Some(members) = toleration.as_object_mut() {
            members.remove("tolerationSeconds");
        }
        toleration.to_string()
    };
    let now: BTreeSet<String> = at.items().map(|item| timeless(item.value())).collect();
    let old = before["tolerations"].as_array().into_iter().flatten();
    if old
        .map(timeless)
        .any(|toleration| !now.contains(&toleration))
    {
        let detail = "existing toleration can not be modified except its tolerationSeconds";
        return findings.forbidden(at, detail);
    }
    tolerations(at, findings);
}

/// `validateOnlyDeletedSchedulingGates`.
fn only_removed_gates(at: At<'_>, before: &Value, findings: &mut Findings) {
    let old = before["schedulingGates"].as_array().into_iter().flatten();
    let old: BTreeSet<&str> = old.filter_map(|gate| gate["name"].as_str()).collect();
    for gate in at.items() {
        let name = gate.text_of("name");
        if !old.contains(name) {
            let detail =
                format!("only deletion is allowed, but found new scheduling gate '{name}'");
            findings.forbidden(gate.field("name"), &detail);
        }
    }
}

/// The new specification with everything that may change as it was.
fn munged(object: &Value, old: &Value) -> Value {
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

/// The top fields that differ, before and after.
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
