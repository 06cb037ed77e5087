use kubewright::prelude::*;

use crate::inject::base_of;
use crate::selector::is_empty;
use crate::{SidecarContainer, SidecarSet};

/// Why the containers of a set need the webhook; none when a policy can put them into Pods, which
/// sees nothing but the Pod: then the set is plain.
///
/// A plain set has containers that are what the set says whatever the Pod is, and that are all it
/// has: no `initContainers`, `volumes`, `imagePullSecrets` or `patchPodMetadata`, no older revision,
/// no hot upgrade, nothing shared, transferred or computed. Nor is it a canary or the base of one
/// among `sets`.
pub fn obstacle<'s>(
    set: &SidecarSet,
    sets: impl IntoIterator<Item = &'s Arc<SidecarSet>>,
) -> Option<&'static str> {
    let spec = &set.spec;
    let of_set = [
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
    let mut of_set = of_set.into_iter().filter(|(holds, _)| *holds);
    if let Some((_, why)) = of_set.next() {
        return Some(why);
    }
    if let Some(why) = spec.containers.iter().find_map(obstacle_in) {
        return Some(why);
    }
    let name = set.name_any();
    let mut sets = sets.into_iter();
    sets.any(|other| base_of(other) == Some(&name))
        .then_some("another set is its canary")
}

fn obstacle_in(sidecar: &SidecarContainer) -> Option<&'static str> {
    let devices = sidecar.share_volume_device_policy.as_ref();
    let shares_devices = devices.is_some_and(|policy| policy.is_enabled());
    let all = [
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
    ];
    let mut all = all.into_iter().filter(|(holds, _)| *holds);
    all.next().map(|(_, why)| why)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::obstacle;
    use crate::inject::tests::set_of;

    /// Why a set with one container is not plain that has this, too.
    fn why(spec: Value, container: Value) -> Option<&'static str> {
        let mut one = json!({"name": "a", "image": "i:1"});
        for (key, value) in container.as_object().unwrap() {
            one[key] = value.clone();
        }
        let mut all = json!({"containers": [one]});
        for (key, value) in spec.as_object().unwrap() {
            all[key] = value.clone();
        }
        obstacle(&set_of("s", all), [])
    }

    #[test]
    fn what_depends_on_more_than_the_set_is_not_plain() {
        for container in [
            json!({}),
            json!({"podInjectPolicy": "AfterAppContainer", "args": ["x"]}),
            json!({"volumeMounts": [{"name": "of-the-pod", "mountPath": "/x"}]}),
            json!({"shareVolumePolicy": {"type": "disabled"}}),
        ] {
            assert_eq!(why(json!({}), container.clone()), None, "{container}");
        }
        for spec in [
            json!({"containers": []}),
            json!({"initContainers": [{"name": "i"}]}),
            json!({"volumes": [{"name": "v"}]}),
            json!({"imagePullSecrets": [{"name": "s"}]}),
            json!({"patchPodMetadata": [{"annotations": {"a": "b"}}]}),
            json!({"injectionStrategy": {"revision": {"customVersion": "v"}}}),
        ] {
            assert!(why(spec.clone(), json!({})).is_some(), "{spec}");
        }
        for container in [
            json!({"upgradeStrategy": {"upgradeType": "HotUpgrade"}}),
            json!({"shareVolumePolicy": {"type": "enabled"}}),
            json!({"shareVolumeDevicePolicy": {"type": "enabled"}}),
            json!({"transferEnv": [{"envName": "A"}]}),
            json!({"resourcesPolicy": {"resourcesExpr": {}}}),
        ] {
            assert!(why(json!({}), container.clone()).is_some(), "{container}");
        }
    }

    #[test]
    fn neither_a_canary_nor_its_base_is_plain() {
        let plain = json!({"containers": [{"name": "a", "image": "i:1"}]});
        let base = set_of("base", plain.clone());
        let mut canary = set_of("canary", plain);
        let labels = [
            ("apps.kruise.io/sidecarset-canary", "true"),
            ("apps.kruise.io/sidecarset-base", "base"),
        ];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(obstacle(&canary, []), None);
        canary.metadata.labels = Some(labels.into());
        let canary = Arc::new(canary);
        assert!(obstacle(&canary, []).is_some());
        assert!(obstacle(&base, [&canary]).is_some());
        assert_eq!(obstacle(&base, []), None);
    }
}
