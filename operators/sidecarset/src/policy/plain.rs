//! Which sets a policy can replace the webhook for.

use kubewright::prelude::*;

use crate::kind::base_of;
use crate::selector::is_empty;
use crate::{SidecarContainer, SidecarSet};

/// Returns why the containers of a set need the webhook, or none if a policy can inject them, which
/// sees nothing but the Pod. Such a set is plain.
///
/// The containers of a plain set are the same in every Pod, and they are all that it has: no
/// `initContainers`, `volumes`, `imagePullSecrets` or `patchPodMetadata`, no older revision, no hot
/// upgrade, nothing shared, transferred or computed. It is neither a canary nor the base of one
/// among `sets`.
pub fn webhook_requirement<'s>(
    set: &SidecarSet,
    sets: impl IntoIterator<Item = &'s Arc<SidecarSet>>,
) -> Option<&'static str> {
    let spec = &set.spec;
    let requirements = [
        (
            spec.selector.as_ref().is_none_or(is_empty),
            "it selects nothing",
        ),
        (spec.containers.is_empty(), "it has no containers"),
        (!spec.init_containers.is_empty(), "it has initContainers"),
        (!spec.volumes.is_empty(), "it has volumes"),
        (
            !spec.image_pull_secrets.is_empty(),
            "it has imagePullSecrets",
        ),
        (
            !spec.patch_pod_metadata.is_empty(),
            "it has patchPodMetadata",
        ),
        (
            spec.injection_strategy.revision.is_some(),
            "injectionStrategy names a revision",
        ),
        (base_of(set).is_some(), "it is the canary of another set"),
    ];
    let name = set.name_any();
    first_met(&requirements)
        .or_else(|| spec.containers.iter().find_map(container_requirement))
        .or_else(|| {
            let mut others = sets.into_iter();
            others
                .any(|other| base_of(other) == Some(&name))
                .then_some("another set is its canary")
        })
}

fn container_requirement(sidecar: &SidecarContainer) -> Option<&'static str> {
    let devices = sidecar.share_volume_device_policy.as_ref();
    let shares_devices = devices.is_some_and(|policy| policy.is_enabled());
    first_met(&[
        (sidecar.is_hot(), "a container has a hot upgrade"),
        (
            sidecar.share_volume_policy.is_enabled() || shares_devices,
            "a container shares volumes of the Pod",
        ),
        (
            !sidecar.transfer_env.is_empty(),
            "a container has variables of the Pod's containers",
        ),
        (
            sidecar.resources_policy.is_some(),
            "the resources of a container are computed",
        ),
    ])
}

fn first_met(requirements: &[(bool, &'static str)]) -> Option<&'static str> {
    let mut met = requirements.iter().filter(|(is_met, _)| *is_met);
    met.next().map(|(_, requirement)| *requirement)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::webhook_requirement;
    use crate::inject::fixtures::set_of;
    use crate::names::{BASE_LABEL, CANARY_LABEL};

    /// Why a set with one container needs the webhook, with further fields in both.
    fn requirement(spec_fields: Value, container_fields: Value) -> Option<&'static str> {
        let mut container = json!({"name": "a", "image": "i:1"});
        for (key, value) in container_fields.as_object().unwrap() {
            container[key] = value.clone();
        }
        let mut spec = json!({"containers": [container]});
        for (key, value) in spec_fields.as_object().unwrap() {
            spec[key] = value.clone();
        }
        webhook_requirement(&set_of("s", spec), [])
    }

    #[test]
    fn set_is_plain_unless_its_containers_depend_on_the_pod() {
        for container in [
            json!({}),
            json!({"podInjectPolicy": "AfterAppContainer", "args": ["x"]}),
            json!({"volumeMounts": [{"name": "of-the-pod", "mountPath": "/x"}]}),
            json!({"shareVolumePolicy": {"type": "disabled"}}),
        ] {
            assert_eq!(
                requirement(json!({}), container.clone()),
                None,
                "{container}"
            );
        }
        for spec in [
            json!({"containers": []}),
            json!({"initContainers": [{"name": "i"}]}),
            json!({"volumes": [{"name": "v"}]}),
            json!({"imagePullSecrets": [{"name": "s"}]}),
            json!({"patchPodMetadata": [{"annotations": {"a": "b"}}]}),
            json!({"injectionStrategy": {"revision": {"customVersion": "v"}}}),
        ] {
            assert!(requirement(spec.clone(), json!({})).is_some(), "{spec}");
        }
        for container in [
            json!({"upgradeStrategy": {"upgradeType": "HotUpgrade"}}),
            json!({"shareVolumePolicy": {"type": "enabled"}}),
            json!({"shareVolumeDevicePolicy": {"type": "enabled"}}),
            json!({"transferEnv": [{"envName": "A"}]}),
            json!({"resourcesPolicy": {"resourcesExpr": {}}}),
        ] {
            assert!(
                requirement(json!({}), container.clone()).is_some(),
                "{container}"
            );
        }
    }

    #[test]
    fn canary_and_its_base_need_the_webhook() {
        let plain = json!({"containers": [{"name": "a", "image": "i:1"}]});
        let base = set_of("base", plain.clone());
        let mut canary = set_of("canary", plain);
        let labels = [(CANARY_LABEL, "true"), (BASE_LABEL, "base")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(webhook_requirement(&canary, []), None);
        canary.metadata.labels = Some(labels.into());
        let canary = Arc::new(canary);
        assert!(webhook_requirement(&canary, []).is_some());
        assert!(webhook_requirement(&base, [&canary]).is_some());
        assert_eq!(webhook_requirement(&base, []), None);
    }
}
