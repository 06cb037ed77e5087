//! Reports conflicts with other sets that may be injected into the same Pods.

use std::collections::BTreeMap;

use kubewright::prelude::*;
use kubewright::webhook::Findings;

use crate::inject::Half;
use crate::names::BASE_LABEL;
use crate::selector::may_overlap;
use crate::{PatchPolicy, SidecarSet};

/// Reports containers, volumes and annotations that conflict with those of another set.
pub(super) fn check_conflicts(
    set: &SidecarSet,
    others: &[Arc<SidecarSet>],
    findings: &mut Findings,
) {
    for other in others {
        let is_same = other.name_any() == set.name_any();
        let is_canary = is_base_of(set, other) || is_base_of(other, set);
        if is_same || is_canary || !may_select_same_pods(set, other) {
            continue;
        }
        check_containers(set, other, findings);
        check_volumes(set, other, findings);
        check_annotations(set, other, findings);
    }
}

/// Whether the other set is a canary of the set, so that no Pod gets both.
fn is_base_of(set: &SidecarSet, other: &SidecarSet) -> bool {
    other.labels().get(BASE_LABEL) == Some(&set.name_any())
}

fn may_select_same_pods(set: &SidecarSet, other: &SidecarSet) -> bool {
    let overlap = |left: &Option<_>, right: &Option<_>| match (left, right) {
        (Some(left), Some(right)) => may_overlap(left, right),
        _ => true,
    };
    set.spec.selector.is_some()
        && other.spec.selector.is_some()
        && overlap(&set.spec.selector, &other.spec.selector)
        && overlap(&set.spec.namespace_selector, &other.spec.namespace_selector)
}

fn check_containers(set: &SidecarSet, other: &SidecarSet, findings: &mut Findings) {
    let other_names = container_paths(other);
    for (name, path) in container_paths(set) {
        if other_names.contains_key(&name) {
            let reason = format!("container {name} already exist in {}", other.name_any());
            findings.invalid(path, &name, &reason);
        }
    }
}

/// The names of all containers that a set injects, including both of a hot upgrade, with the path of
/// the field.
fn container_paths(set: &SidecarSet) -> BTreeMap<String, String> {
    let mut paths = BTreeMap::new();
    for (sidecars, list) in [
        (&set.spec.init_containers, "initContainers"),
        (&set.spec.containers, "containers"),
    ] {
        for (index, sidecar) in sidecars.iter().enumerate() {
            let path = format!("spec.{list}[{index}].name");
            let name = &sidecar.container.name;
            if sidecar.is_hot() {
                paths.extend(Half::BOTH.map(|half| (half.name(name), path.clone())));
            }
            paths.insert(name.clone(), path);
        }
    }
    paths
}

fn check_volumes(set: &SidecarSet, other: &SidecarSet, findings: &mut Findings) {
    for (index, volume) in set.spec.volumes.iter().enumerate() {
        let mut others = other.spec.volumes.iter();
        if others.any(|other| other.name == volume.name && other != volume) {
            let reason = format!(
                "volume {} is in conflict with sidecarset {}",
                volume.name,
                other.name_any()
            );
            let path = format!("spec.volumes[{index}].name");
            findings.invalid(path, &volume.name, &reason);
        }
    }
}

fn check_annotations(set: &SidecarSet, other: &SidecarSet, findings: &mut Findings) {
    let other_policies: BTreeMap<&String, PatchPolicy> = annotation_policies(other).collect();
    for (key, policy) in annotation_policies(set) {
        let Some(other_policy) = other_policies.get(key) else {
            continue;
        };
        if policy == PatchPolicy::Overwrite || *other_policy == PatchPolicy::Overwrite {
            let name = other.name_any();
            let reason = format!("annotation {key} is in conflict with sidecarset {name}");
            findings.invalid("spec.patchPodMetadata", key, &reason);
        }
    }
}

fn annotation_policies(set: &SidecarSet) -> impl Iterator<Item = (&String, PatchPolicy)> {
    set.spec.patch_pod_metadata.iter().flat_map(|patch| {
        let policy = patch.patch_policy.unwrap_or_default();
        patch.annotations.keys().map(move |key| (key, policy))
    })
}
