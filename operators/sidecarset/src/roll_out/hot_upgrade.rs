//! The state of hot upgrades in a running Pod.

use kubewright::prelude::*;

use super::containers::{container, container_status};
use crate::inject::Half;
use crate::pod_annotations::working_containers;
use crate::{SidecarContainer, SidecarSet};

/// Whether each idle container has the empty image. Until then both containers may work.
pub(super) fn is_idle_empty(set: &SidecarSet, pod: &Pod) -> bool {
    let mut hot = set
        .spec
        .containers
        .iter()
        .filter(|sidecar| sidecar.is_hot());
    hot.all(|sidecar| has_empty_image(sidecar, pod, working_half(sidecar, pod).other()))
}

/// Returns the working one of the two containers.
pub(super) fn working_half(sidecar: &SidecarContainer, pod: &Pod) -> Half {
    let name = &sidecar.container.name;
    match working_containers(pod).get(name) {
        Some(container) if *container == Half::Second.name(name) => Half::Second,
        _ => Half::First,
    }
}

/// Returns the container that gets a new image: one with the empty image, else one that is not
/// ready, else the one that does not work.
pub(super) fn target_half(sidecar: &SidecarContainer, pod: &Pod) -> Half {
    let idle = working_half(sidecar, pod).other();
    let halves = [idle, idle.other()];
    let is_empty = |half: &Half| has_empty_image(sidecar, pod, *half);
    let is_unready = |half: &Half| !is_ready(sidecar, pod, *half);
    let empty = halves.into_iter().find(is_empty);
    empty
        .or_else(|| halves.into_iter().find(is_unready))
        .unwrap_or(idle)
}

/// Returns the sidecars whose previous container can get the empty image, since the new one is
/// ready.
pub(super) fn to_flip<'s>(set: &'s SidecarSet, pod: &Pod) -> Vec<&'s SidecarContainer> {
    let hot = set
        .spec
        .containers
        .iter()
        .filter(|sidecar| sidecar.is_hot());
    hot.filter(|sidecar| {
        let half = working_half(sidecar, pod);
        !has_empty_image(sidecar, pod, half.other()) && is_ready(sidecar, pod, half)
    })
    .collect()
}

fn has_empty_image(sidecar: &SidecarContainer, pod: &Pod, half: Half) -> bool {
    let container = container(pod, &half.name(&sidecar.container.name));
    let empty_image = &sidecar.upgrade_strategy.hot_upgrade_empty_image;
    container.is_some_and(|container| container.image == *empty_image)
}

fn is_ready(sidecar: &SidecarContainer, pod: &Pod, half: Half) -> bool {
    let name = half.name(&sidecar.container.name);
    container_status(pod, &name).is_some_and(|status| status.ready)
}
