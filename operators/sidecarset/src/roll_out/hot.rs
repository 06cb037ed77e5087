use kubewright::prelude::*;

use super::member::{container, status};
use crate::inject::Half;
use crate::record::working;
use crate::{SidecarContainer, SidecarSet};

/// Whether each container that waits has the empty image: until then both may work.
pub(super) fn is_idle_empty(set: &SidecarSet, pod: &Pod) -> bool {
    let mut hot = set.spec.containers.iter().filter(|one| one.is_hot());
    hot.all(|sidecar| has_empty_image(sidecar, pod, working_half(sidecar, pod).other()))
}

/// The half that does the work.
pub(super) fn working_half(sidecar: &SidecarContainer, pod: &Pod) -> Half {
    let name = &sidecar.container.name;
    match working(pod).get(name) {
        Some(container) if *container == Half::Two.name(name) => Half::Two,
        _ => Half::One,
    }
}

/// The half that takes a new image: the one that waits, else one that does not work anyway, else
/// the one that is not said to.
pub(super) fn target_half(sidecar: &SidecarContainer, pod: &Pod) -> Half {
    let idle = working_half(sidecar, pod).other();
    let is_unready = |half: &Half| !is_ready(sidecar, pod, *half);
    let mut halves = [idle, idle.other()].into_iter();
    let empty = halves
        .clone()
        .find(|half| has_empty_image(sidecar, pod, *half));
    empty.or_else(|| halves.find(is_unready)).unwrap_or(idle)
}

/// The sidecars whose former container can be put to rest: the new one works.
pub(super) fn to_flip<'s>(set: &'s SidecarSet, pod: &Pod) -> Vec<&'s SidecarContainer> {
    let hot = set.spec.containers.iter().filter(|one| one.is_hot());
    hot.filter(|sidecar| {
        let half = working_half(sidecar, pod);
        !has_empty_image(sidecar, pod, half.other()) && is_ready(sidecar, pod, half)
    })
    .collect()
}

fn has_empty_image(sidecar: &SidecarContainer, pod: &Pod, half: Half) -> bool {
    let container = container(pod, &half.name(&sidecar.container.name));
    let empty = &sidecar.upgrade_strategy.hot_upgrade_empty_image;
    container.is_some_and(|one| one.image == *empty)
}

/// Whether a container runs what it should and is ready.
fn is_ready(sidecar: &SidecarContainer, pod: &Pod, half: Half) -> bool {
    let name = half.name(&sidecar.container.name);
    status(pod, &name).is_some_and(|status| status.ready)
}
