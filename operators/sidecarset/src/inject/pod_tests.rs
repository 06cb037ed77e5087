//! What Pods become by an injection.

use kubewright::prelude::*;
use serde_json::{Value, json};

use super::is_injected;
use crate::inject::fixtures::{Case, pod_of, pod_with, set_of};
use crate::pod_annotations::{injected_sets, injections, injections_without_image};
use crate::{Error, spec_hash, spec_hash_without_image};

/// One set.
fn single_set(spec: Value) -> Case {
    Case {
        sets: vec![set_of("one", spec)],
        ..Case::default()
    }
}

#[test]
fn sidecars_are_added_by_their_inject_policy_and_sets_by_name() {
    let before = json!({"containers": [{"name": "a"}]});
    let after = json!({"containers": [{"name": "z", "podInjectPolicy": "AfterAppContainer"}]});
    let both = json!({"containers": [
        {"name": "b", "podInjectPolicy": "BeforeAppContainer"},
        {"name": "y", "podInjectPolicy": "AfterAppContainer"},
    ]});
    for (sets, expected) in [
        (vec![], "app"),
        (vec![("one", &before)], "a app"),
        (vec![("one", &after)], "app z"),
        (vec![("two", &both), ("one", &before)], "a b app y"),
        (vec![("two", &after), ("one", &both)], "b app y z"),
    ] {
        let case = Case {
            sets: sets
                .into_iter()
                .map(|(name, spec)| set_of(name, spec.clone()))
                .collect(),
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), expected);
    }
}

#[test]
fn init_containers_are_added_by_name_after_those_of_the_pod() {
    let case = single_set(json!({"initContainers": [
        {"name": "c"}, {"name": "b", "restartPolicy": "Always"},
        {"name": "a", "podInjectPolicy": "BeforeAppContainer"},
    ]}));
    let pod =
        pod_with(json!({"containers": [{"name": "app"}], "initContainers": [{"name": "own"}]}));
    let spec = case.inject(pod).unwrap().spec.unwrap();
    let init = spec.init_containers.unwrap();
    let names: Vec<_> = init
        .iter()
        .map(|container| container.name.as_str())
        .collect();
    assert_eq!(names, ["a", "own", "b", "c"]);
    assert!(init.iter().skip(2).all(is_injected));
}

#[test]
fn pod_that_no_set_selects_is_unchanged() {
    let case = single_set(json!({"containers": [{"name": "a"}]}));
    let mut pod = pod_of(json!({}));
    pod.metadata.labels = None;
    assert_eq!(case.inject(pod.clone()).unwrap(), pod);
}

#[test]
fn injection_is_recorded_in_the_annotations() {
    let case = single_set(json!({"containers": [{"name": "a", "image": "i:1"}]}));
    let pod = case.inject(pod_of(json!({}))).unwrap();
    let set = &case.sets[0];
    let entry = &injections(&pod)["one"];
    assert_eq!(entry.hash, spec_hash(set));
    assert_eq!(entry.set, "one");
    assert_eq!(entry.sidecar_list, ["a"]);
    assert!(
        entry
            .controller_revision
            .as_ref()
            .unwrap()
            .starts_with("one-")
    );
    let without_image = &injections_without_image(&pod)["one"];
    assert_eq!(without_image.hash, spec_hash_without_image(set));
    assert_eq!(without_image.controller_revision, None);
    assert!(injected_sets(&pod).contains("one"));
}

#[test]
fn newer_set_replaces_its_own_container_and_none_of_the_pod() {
    let old = single_set(json!({"containers": [{"name": "a", "image": "v1"}]}));
    let new = single_set(json!({"containers": [{"name": "a", "image": "v2"}]}));
    let mut pod = old.inject(pod_of(json!({}))).unwrap();
    let token = json!([{"name": "token", "mountPath": "/var/run/secrets"}]);
    pod.spec.as_mut().unwrap().containers[0].volume_mounts = serde_json::from_value(token).unwrap();
    let spec = new.inject(pod).unwrap().spec.unwrap();
    assert_eq!(spec.containers.len(), 2);
    assert_eq!(spec.containers[0].image.as_deref(), Some("v2"));
    let mounts = spec.containers[0].volume_mounts.as_ref().unwrap();
    assert_eq!(mounts[0].name, "token");
    for conflict in [
        json!({"containers": [{"name": "app"}]}),
        json!({"initContainers": [{"name": "app"}]}),
    ] {
        assert_eq!(
            single_set(conflict).inject(pod_of(json!({}))),
            Err(Error::ContainerExists {
                set: "one".to_owned(),
                container: "app".to_owned()
            })
        );
    }
}

#[test]
fn mounted_volumes_are_added_and_volumes_of_the_pod_kept() {
    let case = single_set(json!({
        "containers": [{"name": "a", "volumeMounts": [
            {"name": "used", "mountPath": "/u"}, {"name": "own", "mountPath": "/o"}]}],
        "volumes": [{"name": "used", "emptyDir": {}}, {"name": "unused", "emptyDir": {}},
                    {"name": "own", "emptyDir": {}}],
        "imagePullSecrets": [{"name": "x"}, {"name": "y"}],
    }));
    let own = json!([{"name": "own", "hostPath": {"path": "/"}}]);
    let pod = pod_with(json!({"containers": [{"name": "app"}], "volumes": own,
        "imagePullSecrets": [{"name": "x"}]}));
    let spec = case.inject(pod).unwrap().spec.unwrap();
    let volumes = spec.volumes.unwrap();
    let names: Vec<_> = volumes.iter().map(|volume| volume.name.as_str()).collect();
    assert_eq!(names, ["own", "used"]);
    assert!(volumes[0].host_path.is_some());
    let secrets = spec.image_pull_secrets.unwrap();
    let names: Vec<_> = secrets.iter().map(|secret| secret.name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
}

#[test]
fn sidecar_with_hot_upgrades_becomes_two_containers() {
    let case = single_set(
        json!({"containers": [{"name": "a", "image": "real:1", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "empty:1"}}]}),
    );
    let pod = case.inject(pod_of(json!({}))).unwrap();
    let annotations = pod.annotations().clone();
    for (key, expected) in [
        ("version.sidecarset.kruise.io/a-1", "1"),
        ("versionalt.sidecarset.kruise.io/a-1", "0"),
        ("version.sidecarset.kruise.io/a-2", "0"),
        ("versionalt.sidecarset.kruise.io/a-2", "1"),
        (
            "kruise.io/sidecarset-working-hotupgrade-container",
            r#"{"a":"a-1"}"#,
        ),
    ] {
        assert_eq!(
            annotations.get(key).map(String::as_str),
            Some(expected),
            "{key}"
        );
    }
    let containers = pod.spec.unwrap().containers;
    let images: Vec<_> = containers
        .iter()
        .map(|container| {
            let image = container.image.as_deref().unwrap_or_default();
            (container.name.as_str(), image)
        })
        .collect();
    assert_eq!(images, [("a-1", "real:1"), ("a-2", "empty:1"), ("app", "")]);
    let env: Vec<_> = containers[1]
        .env
        .iter()
        .flatten()
        .map(|variable| &variable.name)
        .collect();
    assert_eq!(
        env,
        [
            "IS_INJECTED",
            "SIDECARSET_VERSION",
            "SIDECARSET_VERSION_ALT"
        ]
    );
}
