//! Validates a set as a whole.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};

use super::conflicts::check_conflicts;
use super::container::check_containers;
use super::dns_label::{DNS_LABEL_MESSAGE, is_dns_label};
use super::selector::check_selector;
use super::strategy::{check_injection, check_sidecars, check_update};
use crate::selector::is_empty;
use crate::{SidecarContainer, SidecarSet};

const MAX_NAME_LENGTH: usize = 63;

/// What the validation of a set depends on besides the set.
#[derive(Clone, Debug, Default)]
pub struct ValidationContext {
    /// All sets, perhaps with the one to validate.
    pub sets: Vec<Arc<SidecarSet>>,
    /// The revisions of all sets.
    pub revisions: Vec<Arc<ControllerRevision>>,
}

/// Validates a set before the API server stores it.
pub fn check(change: &Change<SidecarSet>, context: &ValidationContext, findings: &mut Findings) {
    let Some(set) = change.object() else {
        return;
    };
    let spec = &set.spec;
    check_name(&set.name_any(), findings);
    match &spec.selector {
        None => findings.required("spec.selector", "no selector defined for SidecarSet"),
        Some(selector) => check_set_selector(selector, "selector", findings),
    }
    if let Some(selector) = &spec.namespace_selector {
        check_set_selector(selector, "namespaceSelector", findings);
    }
    if spec.containers.is_empty() && spec.init_containers.is_empty() {
        let reason = "no initContainer or container defined for SidecarSet";
        findings.required("spec.containers", reason);
    }
    for (containers, path) in [
        (&spec.init_containers, "spec.initContainers"),
        (&spec.containers, "spec.containers"),
    ] {
        check_containers(containers, path, findings);
        check_sidecars(containers, path, findings);
    }
    check_both_lists(set, findings);
    check_volumes(set, findings);
    check_metadata(set, findings);
    check_update(set, findings);
    check_injection(set, &context.revisions, findings);
    if let Some(old) = change.old() {
        check_change(old, set, findings);
    }
    check_conflicts(set, &context.sets, findings);
}

fn check_name(name: &str, findings: &mut Findings) {
    let is_valid = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_valid || name.is_empty() {
        let reason = "sidecarset name must consist of alphanumeric characters or '-'";
        findings.invalid("metadata.name", name, reason);
    }
    if name.len() > MAX_NAME_LENGTH {
        let reason = "must be no more than 63 characters";
        findings.invalid("metadata.name", name, reason);
    }
}

fn check_set_selector(selector: &LabelSelector, field: &str, findings: &mut Findings) {
    let path = format!("spec.{field}");
    if is_empty(selector) {
        let reason = format!("empty {field} is not valid for sidecarset.");
        return findings.invalid(path, selector, &reason);
    }
    check_selector(selector, &path, findings);
}

/// Reports names that are in both lists of containers, which the API server rejects in a Pod.
fn check_both_lists(set: &SidecarSet, findings: &mut Findings) {
    let init = set.spec.init_containers.iter();
    let init_names: BTreeSet<_> = init.map(|sidecar| &sidecar.container.name).collect();
    for (index, sidecar) in set.spec.containers.iter().enumerate() {
        if init_names.contains(&sidecar.container.name) {
            let path = format!("spec.containers[{index}].name");
            findings.duplicate(path, &sidecar.container.name);
        }
    }
}

fn check_volumes(set: &SidecarSet, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for (index, volume) in set.spec.volumes.iter().enumerate() {
        let path = format!("spec.volumes[{index}].name");
        match volume.name.as_str() {
            "" => findings.required(path, ""),
            name if !is_dns_label(name) => findings.invalid(path, name, DNS_LABEL_MESSAGE),
            name if !names.insert(name) => findings.duplicate(path, name),
            _ => {}
        }
    }
}

fn check_metadata(set: &SidecarSet, findings: &mut Findings) {
    let mut keys = BTreeSet::new();
    for (index, patch) in set.spec.patch_pod_metadata.iter().enumerate() {
        let path = format!("spec.patchPodMetadata[{index}].annotations");
        if patch.annotations.is_empty() {
            findings.required(&path, "no key in patchPodMetadata.annotations");
        }
        for key in patch.annotations.keys() {
            if !keys.insert(key) {
                let reason = format!("patch annotation[{key}] already exist");
                findings.invalid(&path, key, &reason);
            }
        }
    }
}

/// Reports changes that running Pods cannot follow: a Pod cannot get further containers.
fn check_change(old: &SidecarSet, new: &SidecarSet, findings: &mut Findings) {
    for (index, sidecar) in new.spec.containers.iter().enumerate() {
        let name = &sidecar.container.name;
        let previous = old
            .spec
            .containers
            .iter()
            .find(|previous| previous.container.name == *name);
        let path = format!("spec.containers[{index}]");
        let Some(previous) = previous else {
            let reason = format!("container {name} is not found");
            findings.invalid(format!("{path}.name"), name, &reason);
            continue;
        };
        let upgrade_type = |sidecar: &SidecarContainer| {
            let upgrade_type = sidecar.upgrade_strategy.upgrade_type;
            upgrade_type.unwrap_or_default()
        };
        if upgrade_type(previous) != upgrade_type(sidecar) {
            let reason = format!("container {name} upgradeType is immutable");
            let path = format!("{path}.upgradeStrategy.upgradeType");
            findings.invalid(path, sidecar.upgrade_strategy.upgrade_type, &reason);
        }
    }
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
