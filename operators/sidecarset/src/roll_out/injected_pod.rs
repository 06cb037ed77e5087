//! The state of a Pod that has the containers of a set.

use kubewright::prelude::*;

use super::containers::{container, container_status};
use super::hot_upgrade::is_idle_empty;
use crate::SidecarSet;
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::Half;
use crate::pod_annotations::{injected_sets, injections, injections_without_image, update_states};

/// A Pod that has the containers of a set.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the four are independent, and all combinations occur"
)]
pub struct InjectedPod {
    /// The Pod.
    pub pod: Arc<Pod>,
    /// Whether its containers are those of the current version of the set.
    pub is_updated: bool,
    /// Whether the running Pod can be updated to the current version.
    pub is_upgradable: bool,
    /// Whether the kubelet has finished the last update.
    pub is_consistent: bool,
    /// Whether the Pod is ready and consistent.
    pub is_ready: bool,
}

/// Whether the Pod has neither ended nor is being deleted.
pub fn is_active(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

/// Returns the state of a Pod, or none if it is not active or does not have the containers of the
/// set.
pub fn injected_pod(set: &SidecarSet, pod: &Arc<Pod>) -> Option<InjectedPod> {
    let name = set.name_any();
    if !is_active(pod) || !injected_sets(pod).contains(&name) || !has_containers(set, pod) {
        return None;
    }
    let is_updated = injections(pod)
        .get(&name)
        .is_some_and(|injection| injection.hash == spec_hash(set));
    let is_upgradable = injections_without_image(pod)
        .get(&name)
        .is_some_and(|injection| injection.hash == spec_hash_without_image(set));
    let is_consistent = is_consistent(&name, pod);
    let is_ready = is_consistent && is_running(pod) && (!is_updated || is_idle_empty(set, pod));
    Some(InjectedPod {
        pod: Arc::clone(pod),
        is_updated,
        is_upgradable,
        is_consistent,
        is_ready,
    })
}

/// Returns the name of each container of the set that runs as long as the Pod.
pub(super) fn container_names(set: &SidecarSet) -> Vec<String> {
    let main = set.spec.containers.iter().flat_map(|sidecar| {
        let name = &sidecar.container.name;
        if sidecar.is_hot() {
            Half::BOTH.map(|half| half.name(name)).into()
        } else {
            vec![name.clone()]
        }
    });
    let native = set.native_sidecars();
    main.chain(native.map(|sidecar| sidecar.container.name.clone()))
        .collect()
}

fn has_containers(set: &SidecarSet, pod: &Pod) -> bool {
    let names = container_names(set);
    names.iter().all(|name| container(pod, name).is_some())
}

/// Whether the kubelet has finished the last update of the set: each container has a status, and
/// each container whose image was changed runs another image than before, or the one of its spec.
fn is_consistent(set: &str, pod: &Pod) -> bool {
    let containers = pod.spec.as_ref().map_or(0, |spec| spec.containers.len());
    let statuses = pod.status.as_ref().map_or(0, |status| {
        status.container_statuses.iter().flatten().count()
    });
    if containers != statuses {
        return false;
    }
    let states = update_states(pod);
    let Some(state) = states.get(set) else {
        return true;
    };
    state.last_container_statuses.iter().all(|(name, last)| {
        let Some((container, status)) = container(pod, name).zip(container_status(pod, name))
        else {
            return true;
        };
        let image = container.image.as_deref().unwrap_or_default();
        match image.split_once('@') {
            Some((_, digest)) => status.image_id.ends_with(digest),
            // The new tag may be of the same image.
            None => status.image_id != last.image_id || status.image == image,
        }
    })
}

fn is_running(pod: &Pod) -> bool {
    let Some(status) = &pod.status else {
        return false;
    };
    let mut conditions = status.conditions.iter().flatten();
    status.phase.as_deref() == Some("Running")
        && conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::injected_pod;
    use crate::SidecarSet;
    use crate::pod_annotations::{
        HASH_ANNOTATION, INJECTED_LIST_ANNOTATION, UPDATE_STATE_ANNOTATION,
    };
    use crate::roll_out::fixtures::{pod_of, set_of};

    fn set() -> SidecarSet {
        set_of("i:1", json!({}))
    }

    #[derive(Debug, PartialEq)]
    enum State {
        NotInjected,
        Outdated,
        Updated,
        UpdatedUnready,
    }

    fn state(change: impl Fn(&mut Value)) -> State {
        let mut pod = json!(pod_of(&set(), "p"));
        change(&mut pod);
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let Some(pod) = injected_pod(&set(), &Arc::new(pod)) else {
            return State::NotInjected;
        };
        assert!(pod.is_upgradable);
        match (pod.is_updated, pod.is_ready) {
            (true, true) => State::Updated,
            (true, false) => State::UpdatedUnready,
            (false, is_ready) => {
                assert!(is_ready, "no case has an outdated Pod that is not ready");
                State::Outdated
            }
        }
    }

    #[test]
    fn state_depends_on_status_containers_and_annotations() {
        type Change = Box<dyn Fn(&mut Value)>;
        let cases: Vec<(Change, State)> = vec![
            (Box::new(|_| {}), State::Updated),
            (
                Box::new(|p| p["status"]["conditions"][0]["status"] = json!("False")),
                State::UpdatedUnready,
            ),
            (
                Box::new(|p| p["status"]["phase"] = json!("Pending")),
                State::UpdatedUnready,
            ),
            (
                Box::new(|p| p["status"]["containerStatuses"] = json!([])),
                State::UpdatedUnready,
            ),
            (
                Box::new(|p| p["status"]["phase"] = json!("Failed")),
                State::NotInjected,
            ),
            (
                Box::new(|p| p["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
                State::NotInjected,
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][INJECTED_LIST_ANNOTATION] = json!("x")),
                State::NotInjected,
            ),
            (
                Box::new(|p| p["spec"]["containers"] = json!([{"name": "app"}])),
                State::NotInjected,
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][HASH_ANNOTATION] = json!("invalid")),
                State::Outdated,
            ),
        ];
        for (index, (change, expected)) in cases.into_iter().enumerate() {
            assert_eq!(state(change), expected, "case {index}");
        }
    }

    #[test]
    fn update_is_finished_when_the_running_image_has_changed_or_is_that_of_the_spec() {
        let update_state =
            json!({"s": {"revision": "x", "lastContainerStatuses": {"a": {"imageID": "old"}}}});
        for (spec, image, id, expected) in [
            ("i:2", "i:1", "old", State::UpdatedUnready),
            ("i:2", "i:1", "new", State::Updated),
            ("i:2", "i:2", "old", State::Updated),
            ("i@sha256:1", "i:1", "x@sha256:1", State::Updated),
            ("i@sha256:1", "i:1", "x@sha256:2", State::UpdatedUnready),
        ] {
            let found = state(|pod| {
                pod["metadata"]["annotations"][UPDATE_STATE_ANNOTATION] =
                    update_state.to_string().into();
                pod["spec"]["containers"][0]["image"] = spec.into();
                let status = &mut pod["status"]["containerStatuses"][0];
                status["image"] = image.into();
                status["imageID"] = id.into();
            });
            assert_eq!(found, expected, "{spec} {image} {id}");
        }
    }
}
