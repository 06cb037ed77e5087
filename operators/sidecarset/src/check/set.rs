use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright::prelude::*;
use kubewright::webhook::{Change, Findings};
use serde_json::json;

use super::container::check_containers;
use super::names::{LABEL, is_label};
use super::neighbours::check_neighbours;
use super::strategy::{check_injection, check_sidecars, check_update};
use crate::selector::is_empty;
use crate::{SidecarContainer, SidecarSet};

const LONGEST_NAME: usize = 63;

/// What else is there when a set is checked.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// All sets; the one that is checked may be among them.
    pub sets: Vec<Arc<SidecarSet>>,
    /// The versions of all sets.
    pub revisions: Vec<Arc<ControllerRevision>>,
}

/// What a set must have before it is stored; all faults are told at once, each with its field.
pub fn check(change: &Change<SidecarSet>, around: &Neighbours, findings: &mut Findings) {
    let Some(set) = change.object() else {
        return;
    };
    check_name(&set.name_any(), findings);
    match &set.spec.selector {
        None => findings.required("spec.selector", "no selector defined for SidecarSet"),
        Some(selector) => check_selector(
            (selector, "empty selector is not valid for sidecarset."),
            "spec.selector",
            findings,
        ),
    }
    if let Some(selector) = &set.spec.namespace_selector {
        check_selector(
            (
                selector,
                "empty namespaceSelector is not valid for sidecarset.",
            ),
            "spec.namespaceSelector",
            findings,
        );
    }
    let spec = &set.spec;
    if spec.containers.is_empty() && spec.init_containers.is_empty() {
        let why = "no initContainer or container defined for SidecarSet";
        findings.required("spec.containers", why);
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
    check_injection(set, &around.revisions, findings);
    if let Some(old) = change.old() {
        check_change(old, set, findings);
    }
    check_neighbours(set, &around.sets, findings);
}

fn check_name(name: &str, findings: &mut Findings) {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !is_plain || name.is_empty() {
        let why = "sidecarset name must consist of alphanumeric characters or '-'";
        findings.invalid("metadata.name", name, why);
    }
    if name.len() > LONGEST_NAME {
        let why = "must be no more than 63 characters";
        findings.invalid("metadata.name", name, why);
    }
}

fn check_selector((selector, empty): (&LabelSelector, &str), path: &str, findings: &mut Findings) {
    if is_empty(selector) {
        return findings.invalid(path, selector, empty);
    }
    parses(selector, path, findings);
}

/// Whether it can be understood.
pub(super) fn parses(selector: &LabelSelector, path: &str, findings: &mut Findings) {
    if let Err(error) = kubewright::LabelSelector::from_object(&json!(selector)) {
        findings.invalid(path, selector, &error.to_string());
    }
}

/// A name stands in one of the lists only: the API server takes no Pod otherwise.
fn check_both_lists(set: &SidecarSet, findings: &mut Findings) {
    let initial = set.spec.init_containers.iter();
    let initial: BTreeSet<_> = initial.map(|one| &one.container.name).collect();
    for (place, sidecar) in set.spec.containers.iter().enumerate() {
        if initial.contains(&sidecar.container.name) {
            let path = format!("spec.containers[{place}].name");
            findings.duplicate(path, &sidecar.container.name);
        }
    }
}

fn check_volumes(set: &SidecarSet, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for (place, volume) in set.spec.volumes.iter().enumerate() {
        let path = format!("spec.volumes[{place}].name");
        match volume.name.as_str() {
            "" => findings.required(path, ""),
            name if !is_label(name) => findings.invalid(path, name, LABEL),
            name if !names.insert(name) => findings.duplicate(path, name),
            _ => {}
        }
    }
}

fn check_metadata(set: &SidecarSet, findings: &mut Findings) {
    let mut keys = BTreeSet::new();
    for (place, patch) in set.spec.patch_pod_metadata.iter().enumerate() {
        let path = format!("spec.patchPodMetadata[{place}].annotations");
        if patch.annotations.is_empty() {
            findings.required(&path, "no key in patchPodMetadata.annotations");
        }
        for key in patch.annotations.keys() {
            if !keys.insert(key) {
                let why = format!("patch annotation[{key}] already exist");
                findings.invalid(&path, key, &why);
            }
        }
    }
}

/// What a running Pod cannot follow: it takes no further container.
fn check_change(old: &SidecarSet, new: &SidecarSet, findings: &mut Findings) {
    for (place, sidecar) in new.spec.containers.iter().enumerate() {
        let name = &sidecar.container.name;
        let former = old
            .spec
            .containers
            .iter()
            .find(|one| one.container.name == *name);
        let path = format!("spec.containers[{place}]");
        let Some(former) = former else {
            let why = format!("container {name} is not found");
            findings.invalid(format!("{path}.name"), name, &why);
            continue;
        };
        let kind = |one: &SidecarContainer| one.upgrade_strategy.upgrade_type.unwrap_or_default();
        if kind(former) != kind(sidecar) {
            let why = format!("container {name} upgradeType is immutable");
            let path = format!("{path}.upgradeStrategy.upgradeType");
            findings.invalid(path, sidecar.upgrade_strategy.upgrade_type, &why);
        }
    }
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
