//! Updates of running Pods, as strategic merge patches.

use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::containers::{container, container_status};
use super::hot_upgrade::{target_half, to_flip, working_half};
use super::injected_pod::container_names;
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::{Occasion, injection_of, patch_metadata};
use crate::pod_annotations::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, LastStatus, UPDATE_STATE_ANNOTATION,
    UpdateState, WORKING_ANNOTATION, injections, injections_without_image,
    other_version_annotation, update_states, version_annotation, working_containers, write_json,
};
use crate::{Error, Injection, SidecarContainer, SidecarSet};

/// The version of an idle container.
const IDLE: &str = "0";

/// An update of a running Pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The Pod after the update.
    pub pod: Pod,
    /// The strategic merge patch, with the uid and the resource version of the Pod before it.
    pub patch: Value,
}

/// Updates a Pod to the images and annotations of the set, in the version of this revision.
pub fn updated(set: &SidecarSet, pod: &Pod, revision: &str, now: &str) -> Result<Update, Error> {
    let mut new = pod.clone();
    let mut state = UpdateState {
        revision: spec_hash(set),
        update_timestamp: Some(now.to_owned()),
        ..UpdateState::default()
    };
    for sidecar in set.spec.containers.iter().chain(set.native_sidecars()) {
        if let Some(name) = update_image(set, sidecar, pod, &mut new) {
            let last = container_status(pod, &name);
            let image_id = last.map(|status| status.image_id.clone());
            let last = LastStatus {
                image_id: image_id.unwrap_or_default(),
            };
            state.last_container_statuses.insert(name, last);
        }
    }
    patch_metadata(new.annotations_mut(), &[set], Occasion::Update)?;
    let injection = Injection {
        update_timestamp: Some(now.to_owned()),
        controller_revision: Some(revision.to_owned()),
        ..injection_of(set, spec_hash(set))
    };
    annotate(&mut new, set, injection, state);
    Ok(Update {
        patch: patch_between(set, pod, &new),
        pod: new,
    })
}

/// Finishes the hot upgrades of a Pod: the previous containers get the empty image. Returns none if
/// there is nothing to finish.
pub fn flipped(set: &SidecarSet, pod: &Pod) -> Option<Update> {
    let sidecars = to_flip(set, pod);
    if sidecars.is_empty() {
        return None;
    }
    let mut new = pod.clone();
    for sidecar in sidecars {
        let name = &sidecar.container.name;
        let half = working_half(sidecar, pod);
        let (working, idle) = (half.name(name), half.other().name(name));
        let empty_image = sidecar.upgrade_strategy.hot_upgrade_empty_image.clone();
        set_image(&mut new, &idle, &empty_image);
        let annotations = new.annotations_mut();
        annotations.insert(version_annotation(&idle), IDLE.to_owned());
        annotations.insert(other_version_annotation(&working), IDLE.to_owned());
    }
    Some(Update {
        patch: patch_between(set, pod, &new),
        pod: new,
    })
}

/// Sets the image of a sidecar, and returns the name of the container whose image has changed.
fn update_image(
    set: &SidecarSet,
    sidecar: &SidecarContainer,
    pod: &Pod,
    new: &mut Pod,
) -> Option<String> {
    let name = &sidecar.container.name;
    let image = &sidecar.container.image;
    if !sidecar.is_hot() {
        return set_image(new, name, image).then(|| name.clone());
    }
    let working = container(pod, &working_half(sidecar, pod).name(name));
    if working.is_some_and(|container| container.image == *image) {
        return None;
    }
    let half = target_half(sidecar, pod);
    let (target, other) = (half.name(name), half.other().name(name));
    set_image(new, &target, image);
    let version = set.metadata.resource_version.clone().unwrap_or_default();
    let mut working = working_containers(new);
    working.insert(name.clone(), target.clone());
    let annotations = new.annotations_mut();
    let previous = annotations.get(&version_annotation(&other)).cloned();
    annotations.insert(version_annotation(&target), version.clone());
    annotations.insert(
        other_version_annotation(&target),
        previous.unwrap_or_else(|| IDLE.to_owned()),
    );
    annotations.insert(other_version_annotation(&other), version);
    write_json(annotations, WORKING_ANNOTATION, &working);
    Some(target)
}

/// Sets the image of a container, and returns whether it was another one.
fn set_image(pod: &mut Pod, name: &str, image: &Option<String>) -> bool {
    let Some(spec) = &mut pod.spec else {
        return false;
    };
    let init = spec.init_containers.iter_mut().flatten();
    let mut containers = spec.containers.iter_mut().chain(init);
    match containers.find(|container| container.name == name) {
        Some(container) if container.image != *image => {
            container.image.clone_from(image);
            true
        }
        _ => false,
    }
}

/// Records the update in the annotations of the Pod.
fn annotate(pod: &mut Pod, set: &SidecarSet, injection: Injection, state: UpdateState) {
    let name = set.name_any();
    let mut without_image = injections_without_image(pod);
    without_image.insert(
        name.clone(),
        Injection {
            hash: spec_hash_without_image(set),
            controller_revision: None,
            ..injection.clone()
        },
    );
    let mut injections = injections(pod);
    injections.insert(name.clone(), injection);
    let mut states = update_states(pod);
    states.insert(name, state);
    let annotations = pod.annotations_mut();
    write_json(annotations, HASH_ANNOTATION, &injections);
    write_json(annotations, HASH_WITHOUT_IMAGE_ANNOTATION, &without_image);
    write_json(annotations, UPDATE_STATE_ANNOTATION, &states);
}

/// Returns the patch for the changed annotations and images of the set's containers. The resource
/// version makes a concurrent change by another client a conflict.
fn patch_between(set: &SidecarSet, old: &Pod, new: &Pod) -> Value {
    let names = container_names(set);
    let mut patch = json!({"metadata": {
        "uid": old.metadata.uid,
        "resourceVersion": old.metadata.resource_version,
    }});
    let annotations: BTreeMap<_, _> = new
        .annotations()
        .iter()
        .filter(|(key, value)| old.annotations().get(*key) != Some(*value))
        .collect();
    if !annotations.is_empty() {
        patch["metadata"]["annotations"] = json!(annotations);
    }
    let (Some(old_spec), Some(new_spec)) = (&old.spec, &new.spec) else {
        return patch;
    };
    let [old_init, new_init] = [old_spec, new_spec].map(|spec| {
        let init = spec.init_containers.as_deref();
        init.unwrap_or_default()
    });
    for (list, old, new) in [
        (
            "containers",
            old_spec.containers.as_slice(),
            new_spec.containers.as_slice(),
        ),
        ("initContainers", old_init, new_init),
    ] {
        let changed: Vec<_> = old
            .iter()
            .zip(new)
            .filter(|(old, new)| old.image != new.image && names.contains(&new.name))
            .map(|(_, new)| json!({"name": new.name, "image": new.image}))
            .collect();
        if !changed.is_empty() {
            patch["spec"][list] = changed.into();
        }
    }
    patch
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Update, flipped, updated};
    use crate::pod_annotations::{injections, update_states, working_containers};
    use crate::roll_out::fixtures::{pod_of, run_by_kubelet, set_of};
    use crate::{SidecarSet, spec_hash};

    fn update(set: &SidecarSet, pod: &kubewright::prelude::Pod) -> Update {
        updated(set, pod, "s-1", "2026-01-01T00:00:00Z").unwrap()
    }

    #[test]
    fn update_changes_only_images_and_annotations() {
        let (old, new) = (set_of("i:1", json!({})), set_of("i:2", json!({})));
        let pod = pod_of(&old, "p");
        let Update {
            pod: changed,
            patch,
        } = update(&new, &pod);
        assert_eq!(
            patch["spec"],
            json!({"containers": [{"name": "a", "image": "i:2"}]})
        );
        assert_eq!(patch["metadata"]["resourceVersion"], "5");
        let injection = &injections(&changed)["s"];
        assert_eq!(injection.hash, spec_hash(&new));
        assert_eq!(injection.controller_revision.as_deref(), Some("s-1"));
        let last = &update_states(&changed)["s"].last_container_statuses;
        assert_eq!(last["a"].image_id, "id of i:1");
    }

    #[test]
    fn images_of_native_sidecars_are_updated() {
        let native = |image: &str| {
            let init = json!([{"name": "n", "image": image, "restartPolicy": "Always"},
                                 {"name": "once", "image": image}]);
            set_of("i:1", json!({"initContainers": init}))
        };
        let (old, new) = (native("i:1"), native("i:2"));
        let patch = update(&new, &pod_of(&old, "p")).patch;
        assert_eq!(
            patch["spec"],
            json!({"initContainers": [{"name": "n", "image": "i:2"}]})
        );
    }

    #[test]
    fn annotations_are_patched_unless_their_policy_is_retain() {
        let patches = |value: &str| {
            json!({"patchPodMetadata": [
                {"annotations": {"k": value}, "patchPolicy": "Overwrite"},
                {"annotations": {"r": value}},
            ]})
        };
        let pod = pod_of(&set_of("i:1", patches("1")), "p");
        let changed = update(&set_of("i:2", patches("2")), &pod);
        let annotations = &changed.patch["metadata"]["annotations"];
        assert_eq!(
            (&annotations["k"], &annotations["r"]),
            (&json!("2"), &Value::Null)
        );
    }

    fn hot(image: &str) -> SidecarSet {
        let sidecar = json!([{"name": "a", "image": image, "upgradeStrategy":
            {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "empty"}}]);
        let mut set = set_of(image, json!({"containers": sidecar}));
        set.metadata.resource_version = Some("77".to_owned());
        set
    }

    #[test]
    fn hot_upgrade_starts_the_other_container_and_then_empties_the_previous_one() {
        let pod = pod_of(&hot("i:1"), "p");
        let set = hot("i:2");
        let first = update(&set, &pod);
        assert_eq!(
            first.patch["spec"],
            json!({"containers": [{"name": "a-2", "image": "i:2"}]})
        );
        assert_eq!(working_containers(&first.pod)["a"], "a-2");
        let versions = |pod: &kubewright::prelude::Pod, name: &str| {
            let annotations = pod.metadata.annotations.clone().unwrap_or_default();
            ["version", "versionalt"]
                .map(|kind| annotations[&format!("{kind}.sidecarset.kruise.io/{name}")].clone())
        };
        assert_eq!(versions(&first.pod, "a-2"), ["77", "1"]);
        assert_eq!(versions(&first.pod, "a-1"), ["1", "77"]);
        let mut unready = run_by_kubelet(first.pod);
        let statuses = unready.status.as_mut().unwrap();
        statuses.container_statuses.as_mut().unwrap()[1].ready = false;
        assert_eq!(flipped(&set, &unready), None);
        let second = flipped(&set, &run_by_kubelet(unready)).unwrap();
        assert_eq!(
            second.patch["spec"],
            json!({"containers": [{"name": "a-1", "image": "empty"}]})
        );
        assert_eq!(versions(&second.pod, "a-1"), ["0", "77"]);
        assert_eq!(versions(&second.pod, "a-2"), ["77", "0"]);
        assert_eq!(flipped(&set, &run_by_kubelet(second.pod.clone())), None);
        // The next upgrade uses the first container again.
        let third = update(&hot("i:3"), &run_by_kubelet(second.pod));
        assert_eq!(working_containers(&third.pod)["a"], "a-1");
    }
}
