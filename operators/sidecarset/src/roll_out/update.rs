use std::collections::BTreeMap;

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::hot::{target_half, to_flip, working_half};
use super::member::{container_names, status};
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::{Moment, patch_metadata};
use crate::record::{
    HASH_ANNOTATION, HASH_WITHOUT_IMAGE_ANNOTATION, LastStatus, UPDATE_STATE_ANNOTATION,
    UpdateState, WORKING_ANNOTATION, injected, injected_without_image, note,
    other_version_annotation, update_states, version_annotation, working,
};
use crate::{Error, SidecarContainer, SidecarSet};

/// The version of a container that waits.
const IDLE: &str = "0";

/// What a running Pod becomes, and how to say so.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The Pod then.
    pub pod: Pod,
    /// The strategic merge patch that makes it so, for the Pod as it was read.
    pub patch: Value,
}

/// The Pod with the present images and annotations of the set.
pub fn updated(set: &SidecarSet, pod: &Pod, revision: &str, now: &str) -> Result<Update, Error> {
    let mut new = pod.clone();
    let mut state = UpdateState {
        revision: spec_hash(set),
        update_timestamp: Some(now.to_owned()),
        ..UpdateState::default()
    };
    let native = set
        .spec
        .init_containers
        .iter()
        .filter(|one| one.is_native());
    for sidecar in set.spec.containers.iter().chain(native) {
        let name = take_image(set, sidecar, pod, &mut new);
        if let Some(name) = name {
            let before = status(pod, &name);
            let image_id = before.map(|one| one.image_id.clone()).unwrap_or_default();
            state
                .last_container_statuses
                .insert(name, LastStatus { image_id });
        }
    }
    patch_metadata(new.annotations_mut(), &[set], Moment::Update)?;
    tell(set, &mut new, (revision, now), state);
    Ok(Update {
        patch: difference(set, pod, &new),
        pod: new,
    })
}

/// The Pod whose former containers of a hot upgrade rest; none when there is nothing to do.
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
        let empty = sidecar.upgrade_strategy.hot_upgrade_empty_image.clone();
        set_image(&mut new, &idle, &empty);
        let annotations = new.annotations_mut();
        annotations.insert(version_annotation(&idle), IDLE.to_owned());
        annotations.insert(other_version_annotation(&working), IDLE.to_owned());
    }
    Some(Update {
        patch: difference(set, pod, &new),
        pod: new,
    })
}

/// Gives the right container the image; its name, if that is another one than before.
fn take_image(
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
    // A sidecar whose image is the same goes on as it is.
    let half = working_half(sidecar, pod);
    let present = super::member::container(pod, &half.name(name));
    if present.is_some_and(|one| one.image == *image) {
        return None;
    }
    let target = target_half(sidecar, pod);
    let (taker, other) = (target.name(name), target.other().name(name));
    set_image(new, &taker, image);
    let version = set.metadata.resource_version.clone().unwrap_or_default();
    let mut working = working(new);
    working.insert(name.clone(), taker.clone());
    let annotations = new.annotations_mut();
    let former = annotations.get(&version_annotation(&other)).cloned();
    annotations.insert(version_annotation(&taker), version.clone());
    annotations.insert(
        other_version_annotation(&taker),
        former.unwrap_or_else(|| IDLE.to_owned()),
    );
    annotations.insert(other_version_annotation(&other), version);
    note(annotations, WORKING_ANNOTATION, &working);
    Some(taker)
}

/// Whether the container's image is another one now.
fn set_image(pod: &mut Pod, name: &str, image: &Option<String>) -> bool {
    let Some(spec) = &mut pod.spec else {
        return false;
    };
    let initial = spec.init_containers.iter_mut().flatten();
    let mut all = spec.containers.iter_mut().chain(initial);
    match all.find(|one| one.name == name) {
        Some(container) if container.image != *image => {
            container.image.clone_from(image);
            true
        }
        _ => false,
    }
}

/// Says on the Pod what it has now.
fn tell(set: &SidecarSet, pod: &mut Pod, (revision, now): (&str, &str), state: UpdateState) {
    let name = set.name_any();
    let mut full = injected(pod);
    let mut without_image = injected_without_image(pod);
    let mut states = update_states(pod);
    for (entries, hash, revision) in [
        (&mut full, spec_hash(set), Some(revision.to_owned())),
        (&mut without_image, spec_hash_without_image(set), None),
    ] {
        let entry = entries.entry(name.clone()).or_default();
        entry.hash = hash;
        entry.set.clone_from(&name);
        entry.update_timestamp = Some(now.to_owned());
        entry.controller_revision = revision;
        let names = set.spec.containers.iter();
        entry.sidecar_list = names.map(|one| one.container.name.clone()).collect();
    }
    states.insert(name, state);
    let annotations = pod.annotations_mut();
    note(annotations, HASH_ANNOTATION, &full);
    note(annotations, HASH_WITHOUT_IMAGE_ANNOTATION, &without_image);
    note(annotations, UPDATE_STATE_ANNOTATION, &states);
}

/// The images of the set's containers and the annotations that differ, for the Pod as it was read:
/// somebody else's change in between is a conflict.
fn difference(set: &SidecarSet, old: &Pod, new: &Pod) -> Value {
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
    let (Some(before), Some(after)) = (&old.spec, &new.spec) else {
        return patch;
    };
    let none = Vec::new();
    let initial = [before, after].map(|spec| spec.init_containers.as_ref().unwrap_or(&none));
    for (list, before, after) in [
        ("containers", &before.containers, &after.containers),
        ("initContainers", initial[0], initial[1]),
    ] {
        let changed = before
            .iter()
            .zip(after)
            .filter(|(old, new)| old.image != new.image && names.contains(&new.name));
        let changed: Vec<_> = changed
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
    use crate::record::{injected, update_states, working};
    use crate::roll_out::plan::tests::{pod_of, set_of, settled};
    use crate::{SidecarSet, spec_hash};

    fn update(set: &SidecarSet, pod: &kubewright::prelude::Pod) -> Update {
        updated(set, pod, "s-1", "2026-01-01T00:00:00Z").unwrap()
    }

    #[test]
    fn only_images_and_annotations_change() {
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
        let entry = &injected(&changed)["s"];
        assert_eq!(entry.hash, spec_hash(&new));
        assert_eq!(entry.controller_revision.as_deref(), Some("s-1"));
        let last = &update_states(&changed)["s"].last_container_statuses;
        assert_eq!(last["a"].image_id, "id of i:1");
    }

    #[test]
    fn native_sidecars_change_their_image_too() {
        let native = |image: &str| {
            let initial = json!([{"name": "n", "image": image, "restartPolicy": "Always"},
                                 {"name": "once", "image": image}]);
            set_of("i:1", json!({"initContainers": initial}))
        };
        let (old, new) = (native("i:1"), native("i:2"));
        let patch = update(&new, &pod_of(&old, "p")).patch;
        assert_eq!(
            patch["spec"],
            json!({"initContainers": [{"name": "n", "image": "i:2"}]})
        );
    }

    #[test]
    fn metadata_is_patched_unless_it_is_to_be_retained() {
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
    fn a_hot_upgrade_starts_the_other_container_and_then_puts_the_former_to_rest() {
        let pod = pod_of(&hot("i:1"), "p");
        let set = hot("i:2");
        let first = update(&set, &pod);
        assert_eq!(
            first.patch["spec"],
            json!({"containers": [{"name": "a-2", "image": "i:2"}]})
        );
        assert_eq!(working(&first.pod)["a"], "a-2");
        let said = |pod: &kubewright::prelude::Pod, name: &str| {
            let annotations = pod.metadata.annotations.clone().unwrap_or_default();
            ["version", "versionalt"]
                .map(|kind| annotations[&format!("{kind}.sidecarset.kruise.io/{name}")].clone())
        };
        assert_eq!(said(&first.pod, "a-2"), ["77", "1"]);
        assert_eq!(said(&first.pod, "a-1"), ["1", "77"]);
        let mut waiting = settled(first.pod);
        let statuses = waiting.status.as_mut().unwrap();
        statuses.container_statuses.as_mut().unwrap()[1].ready = false;
        assert_eq!(flipped(&set, &waiting), None);
        let second = flipped(&set, &settled(waiting)).unwrap();
        assert_eq!(
            second.patch["spec"],
            json!({"containers": [{"name": "a-1", "image": "empty"}]})
        );
        assert_eq!(said(&second.pod, "a-1"), ["0", "77"]);
        assert_eq!(said(&second.pod, "a-2"), ["77", "0"]);
        assert_eq!(flipped(&set, &settled(second.pod.clone())), None);
        // And back again.
        let third = update(&hot("i:3"), &settled(second.pod));
        assert_eq!(working(&third.pod)["a"], "a-1");
    }
}
