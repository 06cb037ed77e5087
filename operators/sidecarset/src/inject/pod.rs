//! Injects the containers of sets into a Pod.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::{Container, PodSpec};
use kubewright::prelude::*;

use super::InjectionContext;
use super::hot_upgrade::{annotate_versions, halves};
use super::metadata::{Occasion, patch_metadata};
use super::pod_containers::is_injected;
use super::set_versions::{SetVersion, set_versions};
use super::sidecar_container::{add_mounts, sidecar_container};
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::pod_annotations::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, INJECTED_LIST_ANNOTATION, Injection,
    injected_sets, injections, injections_without_image, write_json,
};
use crate::{Error, PodInjectPolicy, SidecarContainer, SidecarSet};

/// Injects the containers of all sets that select the Pod. The injection is idempotent: a Pod that
/// has the containers already is returned unchanged.
pub fn inject(mut pod: Pod, context: &InjectionContext<'_>) -> Result<Pod, Error> {
    let versions = set_versions(&pod, context)?;
    if versions.is_empty() {
        return Ok(pod);
    }
    let sets: Vec<_> = versions.iter().map(|version| &*version.set).collect();
    patch_metadata(pod.annotations_mut(), &sets, Occasion::Injection)?;
    let mut injected = Vec::new();
    for set in &sets {
        injected.extend(containers_of(set, &pod)?);
    }
    let spec = pod.spec.get_or_insert_default();
    add_containers(spec, injected)?;
    for set in &sets {
        add_volumes(spec, set);
        add_secrets(spec, set);
    }
    annotate(&mut pod, &versions);
    let hot_sidecars: Vec<_> = sets
        .iter()
        .flat_map(|set| &set.spec.containers)
        .filter(|sidecar| sidecar.is_hot())
        .map(|sidecar| sidecar.container.name.clone())
        .collect();
    annotate_versions(pod.annotations_mut(), &hot_sidecars);
    Ok(pod)
}

/// A container to inject.
struct NewContainer {
    set: String,
    container: Container,
    list: ContainerList,
    policy: PodInjectPolicy,
}

/// One of a Pod's lists of containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContainerList {
    Init,
    Main,
}

fn containers_of(set: &SidecarSet, pod: &Pod) -> Result<Vec<NewContainer>, Error> {
    let init = set.spec.init_containers.iter();
    let main = set.spec.containers.iter();
    let sidecars = init
        .map(|sidecar| (sidecar, ContainerList::Init))
        .chain(main.map(|sidecar| (sidecar, ContainerList::Main)));
    let mut new = Vec::new();
    for (sidecar, list) in sidecars {
        let policy = sidecar.pod_inject_policy.unwrap_or(match list {
            ContainerList::Init => PodInjectPolicy::AfterAppContainer,
            ContainerList::Main => PodInjectPolicy::BeforeAppContainer,
        });
        let container = sidecar_container(sidecar, set, pod)?;
        let containers = if list == ContainerList::Main && sidecar.is_hot() {
            halves(sidecar, &container).into()
        } else {
            vec![container]
        };
        new.extend(containers.into_iter().map(|container| NewContainer {
            set: set.name_any(),
            container,
            list,
            policy,
        }));
    }
    Ok(new)
}

/// Adds the containers to both lists of the Pod. Init containers are added in the order of their
/// names.
fn add_containers(spec: &mut PodSpec, new: Vec<NewContainer>) -> Result<(), Error> {
    let (mut new_init, new_main): (Vec<_>, Vec<_>) = new
        .into_iter()
        .partition(|new| new.list == ContainerList::Init);
    new_init.sort_by(|left, right| left.container.name.cmp(&right.container.name));
    let mut init = spec.init_containers.take().unwrap_or_default();
    let mut main = std::mem::take(&mut spec.containers);
    add_to_list(&mut init, &main, new_init)?;
    add_to_list(&mut main, &init, new_main)?;
    spec.init_containers = (!init.is_empty()).then_some(init);
    spec.containers = main;
    Ok(())
}

/// Adds containers to one list. A container of an earlier injection is replaced in its position; a
/// container that the Pod has itself is never replaced.
fn add_to_list(
    list: &mut Vec<Container>,
    other_list: &[Container],
    new: Vec<NewContainer>,
) -> Result<(), Error> {
    let mut front: Vec<Container> = Vec::new();
    for NewContainer {
        set,
        mut container,
        policy,
        ..
    } in new
    {
        let has_name = |other: &Container| other.name == container.name;
        let index = list.iter().position(has_name);
        let is_own = index.is_some_and(|index| !is_injected(&list[index]));
        if is_own || other_list.iter().any(has_name) || front.iter().any(has_name) {
            return Err(Error::ContainerExists {
                set,
                container: container.name,
            });
        }
        match index {
            Some(index) => {
                // Keeps mounts that the API server has added, such as that of the account's token.
                let mounts = list[index].volume_mounts.take();
                add_mounts(&mut container, mounts.into_iter().flatten());
                list[index] = container;
            }
            None if policy == PodInjectPolicy::BeforeAppContainer => front.push(container),
            None => list.push(container),
        }
    }
    front.append(list);
    *list = front;
    Ok(())
}

/// Adds the volumes that a container of the set mounts. Volumes of the Pod are kept.
fn add_volumes(spec: &mut PodSpec, set: &SidecarSet) {
    let sidecars = set.spec.containers.iter().chain(&set.spec.init_containers);
    let mounted: BTreeSet<&str> = sidecars.flat_map(mounted_volumes).collect();
    for volume in &set.spec.volumes {
        let volumes = spec.volumes.get_or_insert_default();
        let is_new = volumes.iter().all(|present| present.name != volume.name);
        if is_new && mounted.contains(volume.name.as_str()) {
            volumes.push(volume.clone());
        }
    }
    if spec.volumes.as_ref().is_some_and(Vec::is_empty) {
        spec.volumes = None;
    }
}

fn mounted_volumes(sidecar: &SidecarContainer) -> impl Iterator<Item = &str> {
    let mounts = sidecar.container.volume_mounts.iter().flatten();
    let devices = sidecar.container.volume_devices.iter().flatten();
    mounts
        .map(|mount| mount.name.as_str())
        .chain(devices.map(|device| device.name.as_str()))
}

fn add_secrets(spec: &mut PodSpec, set: &SidecarSet) {
    for secret in &set.spec.image_pull_secrets {
        let secrets = spec.image_pull_secrets.get_or_insert_default();
        if secrets.iter().all(|present| present.name != secret.name) {
            secrets.push(secret.clone());
        }
    }
}

/// Records the injections in the annotations of the Pod.
fn annotate(pod: &mut Pod, versions: &[SetVersion]) {
    let mut injections = injections(pod);
    let mut without_image = injections_without_image(pod);
    let mut sets = injected_sets(pod);
    for SetVersion { set, revision } in versions {
        let name = set.name_any();
        let injection = Injection {
            controller_revision: Some(revision.clone()),
            ..injection_of(set, spec_hash(set))
        };
        injections.insert(name.clone(), injection);
        let hash = spec_hash_without_image(set);
        without_image.insert(name.clone(), injection_of(set, hash));
        sets.insert(name);
    }
    let list: Vec<_> = sets.into_iter().collect();
    let annotations: &mut BTreeMap<_, _> = pod.annotations_mut();
    write_json(annotations, HASH_ANNOTATION, &injections);
    write_json(annotations, HASH_WITHOUT_IMAGE_ANNOTATION, &without_image);
    annotations.insert(INJECTED_LIST_ANNOTATION.to_owned(), list.join(","));
}

/// Returns the record of an injection of the set, with one of its hashes.
pub(crate) fn injection_of(set: &SidecarSet, hash: String) -> Injection {
    let sidecars = set.spec.containers.iter();
    Injection {
        update_timestamp: None,
        hash,
        set: set.name_any(),
        sidecar_list: sidecars
            .map(|sidecar| sidecar.container.name.clone())
            .collect(),
        controller_revision: None,
    }
}

#[cfg(test)]
#[path = "pod_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "pod_properties.rs"]
mod properties;
