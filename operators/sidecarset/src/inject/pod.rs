use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::{Container, PodSpec};
use kubewright::prelude::*;

use super::choose::{Chosen, choose};
use super::container::{add_mounts, container};
use super::hot::{halves, tell_versions};
use super::metadata::{Moment, patch_metadata};
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::place::Place;
use crate::record::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injected, injected,
    injected_list, injected_without_image, note,
};
use crate::{Error, PodInjectPolicy, SidecarContainer, SidecarSet};

/// Marks a container that a set put into its Pod.
pub const INJECTED: &str = "IS_INJECTED";

/// What a Pod's containers depend on besides the Pod.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// The namespace that the Pod will be in.
    pub place: Place<'a>,
    /// All sets.
    pub sets: Vec<Arc<SidecarSet>>,
    /// Their versions.
    pub revisions: Vec<Arc<ControllerRevision>>,
}

/// The Pod with the containers of all sets that select it, which it may have already: doing it
/// twice is the same as doing it once.
pub fn inject(mut pod: Pod, around: &Surroundings<'_>) -> Result<Pod, Error> {
    let chosen = choose(&pod, around)?;
    if chosen.is_empty() {
        return Ok(pod);
    }
    let sets: Vec<_> = chosen.iter().map(|one| &*one.set).collect();
    patch_metadata(pod.annotations_mut(), &sets, Moment::Injection)?;
    let mut sidecars = Vec::new();
    for one in &chosen {
        sidecars.extend(sidecars_of(&one.set, &pod)?);
    }
    let hot = chosen.iter().flat_map(|one| &one.set.spec.containers);
    let hot: Vec<_> = hot
        .filter(|one| one.is_hot())
        .map(|one| one.container.name.clone())
        .collect();
    let spec = pod.spec.get_or_insert_default();
    place(spec, sidecars)?;
    for one in &chosen {
        add_volumes(spec, &one.set);
        add_secrets(spec, &one.set);
    }
    tell(&mut pod, &chosen);
    tell_versions(pod.annotations_mut(), &hot);
    Ok(pod)
}

/// The containers of a Pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct PodParts<'p> {
    pub(super) containers: &'p [Container],
    pub(super) init_containers: &'p [Container],
}

impl<'p> PodParts<'p> {
    pub(super) fn of(pod: &'p Pod) -> Self {
        let spec = pod.spec.as_ref();
        Self {
            containers: spec.map_or(&[], |spec| &spec.containers),
            init_containers: spec
                .and_then(|spec| spec.init_containers.as_deref())
                .unwrap_or_default(),
        }
    }
}

/// Whether a set put it there.
pub(crate) fn is_injected(container: &Container) -> bool {
    let mut env = container.env.iter().flatten();
    env.any(|one| one.name == INJECTED && one.value.as_deref() == Some("true"))
}

/// A container on its way into a Pod.
struct Sidecar {
    set: String,
    container: Container,
    list: List,
    policy: PodInjectPolicy,
}

/// Which of a Pod's lists of containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    Initial,
    Main,
}

fn sidecars_of(set: &SidecarSet, pod: &Pod) -> Result<Vec<Sidecar>, Error> {
    let initial = set.spec.init_containers.iter();
    let main = set.spec.containers.iter();
    let all = initial
        .map(|one| (one, List::Initial))
        .chain(main.map(|one| (one, List::Main)));
    let mut sidecars = Vec::new();
    for (sidecar, list) in all {
        let policy = sidecar.pod_inject_policy.unwrap_or(match list {
            List::Initial => PodInjectPolicy::AfterAppContainer,
            List::Main => PodInjectPolicy::BeforeAppContainer,
        });
        let one = container(sidecar, set, pod)?;
        let containers = match list == List::Main && sidecar.is_hot() {
            true => halves(sidecar, &one).into(),
            false => vec![one],
        };
        sidecars.extend(containers.into_iter().map(|container| Sidecar {
            set: set.name_any(),
            container,
            list,
            policy,
        }));
    }
    Ok(sidecars)
}

/// Puts the sidecars where they belong; those that run first come in the order of their names.
fn place(spec: &mut PodSpec, sidecars: Vec<Sidecar>) -> Result<(), Error> {
    let (mut initial, main): (Vec<_>, Vec<_>) = sidecars
        .into_iter()
        .partition(|one| one.list == List::Initial);
    initial.sort_by(|one, other| one.container.name.cmp(&other.container.name));
    let mut first = spec.init_containers.take().unwrap_or_default();
    let mut rest = std::mem::take(&mut spec.containers);
    place_in(&mut first, &rest, initial)?;
    place_in(&mut rest, &first, main)?;
    spec.init_containers = (!first.is_empty()).then_some(first);
    spec.containers = rest;
    Ok(())
}

/// One that is there by an earlier injection is replaced where it stands; one that the Pod brought
/// itself is not overwritten.
fn place_in(
    containers: &mut Vec<Container>,
    others: &[Container],
    sidecars: Vec<Sidecar>,
) -> Result<(), Error> {
    let mut front = Vec::new();
    for sidecar in sidecars {
        let name = &sidecar.container.name;
        let is_it = |one: &Container| one.name == *name;
        let present = containers.iter().position(is_it);
        let is_taken = present.is_some_and(|place| !is_injected(&containers[place]));
        if is_taken || others.iter().any(is_it) || front.iter().any(is_it) {
            return Err(Error::Taken {
                set: sidecar.set,
                container: name.clone(),
            });
        }
        match present {
            Some(place) => {
                let mut new = sidecar.container;
                // What the server added since, such as the token of the account.
                let added = containers[place].volume_mounts.take();
                add_mounts(&mut new, added.into_iter().flatten());
                containers[place] = new;
            }
            None if sidecar.policy == PodInjectPolicy::BeforeAppContainer => {
                front.push(sidecar.container);
            }
            None => containers.push(sidecar.container),
        }
    }
    front.append(containers);
    *containers = front;
    Ok(())
}

/// Only those that a container of the set mounts; the Pod's own volumes stay.
fn add_volumes(spec: &mut PodSpec, set: &SidecarSet) {
    let sidecars = set.spec.containers.iter().chain(&set.spec.init_containers);
    let mounted: BTreeSet<&str> = sidecars.flat_map(mounted).collect();
    for volume in &set.spec.volumes {
        let volumes = spec.volumes.get_or_insert_default();
        let is_new = volumes.iter().all(|one| one.name != volume.name);
        if is_new && mounted.contains(volume.name.as_str()) {
            volumes.push(volume.clone());
        }
    }
    if spec.volumes.as_ref().is_some_and(Vec::is_empty) {
        spec.volumes = None;
    }
}

fn mounted(sidecar: &SidecarContainer) -> impl Iterator<Item = &str> {
    let mounts = sidecar.container.volume_mounts.iter().flatten();
    let devices = sidecar.container.volume_devices.iter().flatten();
    mounts
        .map(|one| one.name.as_str())
        .chain(devices.map(|one| one.name.as_str()))
}

fn add_secrets(spec: &mut PodSpec, set: &SidecarSet) {
    for secret in &set.spec.image_pull_secrets {
        let secrets = spec.image_pull_secrets.get_or_insert_default();
        if secrets.iter().all(|one| one.name != secret.name) {
            secrets.push(secret.clone());
        }
    }
}

/// Says on the Pod what it got.
fn tell(pod: &mut Pod, chosen: &[Chosen]) {
    let mut full = injected(pod);
    let mut without_image = injected_without_image(pod);
    let mut list = injected_list(pod);
    for Chosen { set, revision } in chosen {
        let name = set.name_any();
        let entry = entry(set, spec_hash(set));
        let plain = Injected {
            hash: spec_hash_without_image(set),
            ..entry.clone()
        };
        let entry = Injected {
            controller_revision: Some(revision.clone()),
            ..entry
        };
        full.insert(name.clone(), entry);
        without_image.insert(name.clone(), plain);
        list.insert(name);
    }
    let list: Vec<_> = list.into_iter().collect();
    let annotations: &mut BTreeMap<_, _> = pod.annotations_mut();
    note(annotations, HASH_ANNOTATION, &full);
    note(annotations, HASH_WITHOUT_IMAGE_ANNOTATION, &without_image);
    annotations.insert(INJECTED_LIST_ANNOTATION.to_owned(), list.join(","));
}

/// What a Pod that has the containers of a set says of them.
pub(crate) fn entry(set: &SidecarSet, hash: String) -> Injected {
    let names = set.spec.containers.iter();
    Injected {
        update_timestamp: None,
        hash,
        set: set.name_any(),
        sidecar_list: names.map(|one| one.container.name.clone()).collect(),
        controller_revision: None,
    }
}

#[cfg(test)]
#[path = "pod_tests.rs"]
pub(crate) mod tests;

#[cfg(test)]
#[path = "pod_properties.rs"]
mod properties;
