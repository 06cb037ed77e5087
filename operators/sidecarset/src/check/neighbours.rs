use std::collections::BTreeMap;

use kubewright::prelude::*;
use kubewright::webhook::Findings;

use crate::inject::Half;
use crate::selector::may_overlap;
use crate::{PatchPolicy, SidecarSet};

/// What another set that may be for the same Pods leaves free.
pub(super) fn check_neighbours(
    set: &SidecarSet,
    others: &[Arc<SidecarSet>],
    findings: &mut Findings,
) {
    let name = set.name_any();
    let base = set.labels().get("apps.kruise.io/sidecarset-base");
    for other in others {
        let there = other.name_any();
        let is_replaced = base == Some(&there);
        if there == name || is_replaced || is_base_of(set, other) || !may_meet(set, other) {
            continue;
        }
        check_names(set, (other, &there), findings);
        check_volumes(set, (other, &there), findings);
        check_annotations(set, (other, &there), findings);
    }
}

/// Whether the other one is tried out in the place of this one.
fn is_base_of(set: &SidecarSet, other: &SidecarSet) -> bool {
    other.labels().get("apps.kruise.io/sidecarset-base") == Some(&set.name_any())
}

/// Whether a Pod may get the containers of both.
fn may_meet(one: &SidecarSet, other: &SidecarSet) -> bool {
    let overlap = |a: &Option<_>, b: &Option<_>| match (a, b) {
        (Some(a), Some(b)) => may_overlap(a, b),
        _ => true,
    };
    one.spec.selector.is_some()
        && other.spec.selector.is_some()
        && overlap(&one.spec.selector, &other.spec.selector)
        && overlap(&one.spec.namespace_selector, &other.spec.namespace_selector)
}

fn check_names(set: &SidecarSet, (other, there): (&SidecarSet, &str), findings: &mut Findings) {
    let taken = places(other);
    for (name, path) in places(set) {
        if taken.contains_key(&name) {
            let why = format!("container {name} already exist in {there}");
            findings.invalid(path, &name, &why);
        }
    }
}

/// The names of all containers that a set puts into Pods, those of hot upgrades included, and where
/// it says so.
fn places(set: &SidecarSet) -> BTreeMap<String, String> {
    let mut places = BTreeMap::new();
    for (sidecars, list) in [
        (&set.spec.init_containers, "initContainers"),
        (&set.spec.containers, "containers"),
    ] {
        for (place, sidecar) in sidecars.iter().enumerate() {
            let path = format!("spec.{list}[{place}].name");
            let name = &sidecar.container.name;
            if sidecar.is_hot() {
                places.extend(Half::BOTH.map(|half| (half.name(name), path.clone())));
            }
            places.insert(name.clone(), path);
        }
    }
    places
}

fn check_volumes(set: &SidecarSet, (other, there): (&SidecarSet, &str), findings: &mut Findings) {
    for (place, volume) in set.spec.volumes.iter().enumerate() {
        let mut volumes = other.spec.volumes.iter();
        if volumes.any(|one| one.name == volume.name && one != volume) {
            let why = format!(
                "volume {} is in conflict with sidecarset {there}",
                volume.name
            );
            findings.invalid(format!("spec.volumes[{place}].name"), &volume.name, &why);
        }
    }
}

fn check_annotations(
    set: &SidecarSet,
    (other, there): (&SidecarSet, &str),
    findings: &mut Findings,
) {
    let theirs: BTreeMap<&String, PatchPolicy> = annotations(other).collect();
    for (key, policy) in annotations(set) {
        let Some(their_policy) = theirs.get(key) else {
            continue;
        };
        if policy == PatchPolicy::Overwrite || *their_policy == PatchPolicy::Overwrite {
            let why = format!("annotation {key} is in conflict with sidecarset {there}");
            findings.invalid("spec.patchPodMetadata", key, &why);
        }
    }
}

fn annotations(set: &SidecarSet) -> impl Iterator<Item = (&String, PatchPolicy)> {
    set.spec.patch_pod_metadata.iter().flat_map(|patch| {
        let policy = patch.patch_policy.unwrap_or_default();
        patch.annotations.keys().map(move |key| (key, policy))
    })
}
