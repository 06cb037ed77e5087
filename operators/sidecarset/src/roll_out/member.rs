use k8s_openapi::api::core::v1::{Container, ContainerStatus, PodStatus};
use kubewright::prelude::*;

use super::hot::is_idle_empty;
use crate::SidecarSet;
use crate::hash::{spec_hash, spec_hash_without_image};
use crate::inject::Half;
use crate::record::{injected, injected_list, injected_without_image, update_states};

/// A Pod that has the containers of a set, and how it is doing.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a finding of its own, and all combinations occur"
)]
pub struct Member {
    /// The Pod.
    pub pod: Arc<Pod>,
    /// Whether its containers are those of the set now.
    pub is_updated: bool,
    /// Whether they can be made so while it runs.
    pub is_upgradable: bool,
    /// Whether what it asks for runs.
    pub is_consistent: bool,
    /// Whether all of it works.
    pub is_ready: bool,
}

/// Neither over nor going.
pub fn is_active(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|one| one.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

/// The Pod as one of the set's, if it has its containers.
pub fn member(set: &SidecarSet, pod: &Arc<Pod>) -> Option<Member> {
    let name = set.name_any();
    if !is_active(pod) || !injected_list(pod).contains(&name) || !has_containers(set, pod) {
        return None;
    }
    let full = injected(pod);
    let without_image = injected_without_image(pod);
    let is_updated = full
        .get(&name)
        .is_some_and(|entry| entry.hash == spec_hash(set));
    let is_upgradable = without_image
        .get(&name)
        .is_some_and(|entry| entry.hash == spec_hash_without_image(set));
    let is_consistent = is_consistent(&name, pod);
    let is_ready = is_consistent && is_running(pod) && (!is_updated || is_idle_empty(set, pod));
    Some(Member {
        pod: Arc::clone(pod),
        is_updated,
        is_upgradable,
        is_consistent,
        is_ready,
    })
}

/// The name of each container that the set puts into a Pod and that stays there.
pub(super) fn container_names(set: &SidecarSet) -> Vec<String> {
    let main = set.spec.containers.iter().flat_map(|sidecar| {
        let name = &sidecar.container.name;
        match sidecar.is_hot() {
            true => Half::BOTH.map(|half| half.name(name)).into(),
            false => vec![name.clone()],
        }
    });
    let native = set
        .spec
        .init_containers
        .iter()
        .filter(|one| one.is_native());
    main.chain(native.map(|one| one.container.name.clone()))
        .collect()
}

fn has_containers(set: &SidecarSet, pod: &Pod) -> bool {
    let names = container_names(set);
    names.iter().all(|name| container(pod, name).is_some())
}

/// A container of a Pod, wherever it stands.
pub(super) fn container<'p>(pod: &'p Pod, name: &str) -> Option<&'p Container> {
    let spec = pod.spec.as_ref()?;
    let initial = spec.init_containers.iter().flatten();
    spec.containers
        .iter()
        .chain(initial)
        .find(|one| one.name == name)
}

/// What is said of a container.
pub(super) fn status<'p>(pod: &'p Pod, name: &str) -> Option<&'p ContainerStatus> {
    let status = pod.status.as_ref()?;
    statuses(status).find(|one| one.name == name)
}

fn statuses(status: &PodStatus) -> impl Iterator<Item = &ContainerStatus> {
    let main = status.container_statuses.iter().flatten();
    main.chain(status.init_container_statuses.iter().flatten())
}

/// Whether the last update of the set has arrived: each container has a status, and none whose
/// image was changed still runs the one before.
fn is_consistent(set: &str, pod: &Pod) -> bool {
    let wanted = pod.spec.as_ref().map_or(0, |spec| spec.containers.len());
    let present = pod.status.as_ref();
    let present = present.map_or(0, |one| one.container_statuses.iter().flatten().count());
    if wanted != present {
        return false;
    }
    let states = update_states(pod);
    let Some(state) = states.get(set) else {
        return true;
    };
    state.last_container_statuses.iter().all(|(name, last)| {
        let Some((container, status)) = container(pod, name).zip(status(pod, name)) else {
            return true;
        };
        let image = container.image.as_deref().unwrap_or_default();
        match image.split_once('@') {
            Some((_, digest)) => status.image_id.ends_with(digest),
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
        && conditions.any(|one| one.type_ == "Ready" && one.status == "True")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::member;
    use crate::SidecarSet;
    use crate::record::{HASH_ANNOTATION, INJECTED_LIST_ANNOTATION, UPDATE_STATE_ANNOTATION};
    use crate::roll_out::plan::tests::{pod_of, set_of};

    fn set() -> SidecarSet {
        set_of("i:1", json!({}))
    }

    /// Whether it is a member, updated, upgradable, ready.
    /// Updated, upgradable, ready; none where it is no member.
    type Seen = Option<(bool, bool, bool)>;

    fn seen(change: impl Fn(&mut Value)) -> Seen {
        let mut pod = json!(pod_of(&set(), "p"));
        change(&mut pod);
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let member = member(&set(), &Arc::new(pod))?;
        Some((member.is_updated, member.is_upgradable, member.is_ready))
    }

    #[test]
    fn a_pod_counts_for_what_it_is() {
        type Change = Box<dyn Fn(&mut Value)>;
        let cases: Vec<(Change, Seen)> = vec![
            (Box::new(|_| {}), Some((true, true, true))),
            (
                Box::new(|p| p["status"]["conditions"][0]["status"] = json!("False")),
                Some((true, true, false)),
            ),
            (
                Box::new(|p| p["status"]["phase"] = json!("Pending")),
                Some((true, true, false)),
            ),
            (
                Box::new(|p| p["status"]["containerStatuses"] = json!([])),
                Some((true, true, false)),
            ),
            (Box::new(|p| p["status"]["phase"] = json!("Failed")), None),
            (
                Box::new(|p| p["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
                None,
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][INJECTED_LIST_ANNOTATION] = json!("x")),
                None,
            ),
            (
                Box::new(|p| p["spec"]["containers"] = json!([{"name": "app"}])),
                None,
            ),
            (
                Box::new(|p| p["metadata"]["annotations"][HASH_ANNOTATION] = json!("broken")),
                Some((false, true, true)),
            ),
        ];
        for (index, (change, wanted)) in cases.into_iter().enumerate() {
            assert_eq!(seen(change), wanted, "case {index}");
        }
    }

    /// An image that was changed has arrived when something else runs, or when it says so: a new
    /// tag may be the same image.
    #[test]
    fn an_update_has_arrived_when_something_else_runs() {
        let note =
            json!({"s": {"revision": "x", "lastContainerStatuses": {"a": {"imageID": "old"}}}});
        for (spec, image, id, wanted) in [
            ("i:2", "i:1", "old", false),
            ("i:2", "i:1", "new", true),
            ("i:2", "i:2", "old", true),
            ("i@sha256:1", "i:1", "x@sha256:1", true),
            ("i@sha256:1", "i:1", "x@sha256:2", false),
        ] {
            let seen = seen(|pod| {
                pod["metadata"]["annotations"][UPDATE_STATE_ANNOTATION] = note.to_string().into();
                pod["spec"]["containers"][0]["image"] = spec.into();
                let status = &mut pod["status"]["containerStatuses"][0];
                status["image"] = image.into();
                status["imageID"] = id.into();
            });
            assert_eq!(seen.unwrap().2, wanted, "{spec} {image} {id}");
        }
    }
}
