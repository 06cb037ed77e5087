use std::sync::Arc;

use k8s_openapi::api::apps::v1::ControllerRevision;
use kubewright::prelude::*;
use serde_json::{Value, json};

use super::{Surroundings, inject};
use crate::place::Place;
use crate::record::{injected, injected_list, injected_without_image};
use crate::{Error, SidecarSet, spec_hash, spec_hash_without_image};

/// What a Pod is created into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) sets: Vec<SidecarSet>,
    pub(crate) revisions: Vec<Arc<ControllerRevision>>,
}

impl Case {
    /// What the Pod becomes; a second time changes nothing.
    pub(crate) fn inject(&self, pod: Pod) -> Result<Pod, Error> {
        let around = Surroundings {
            place: Place {
                name: "default",
                labels: None,
            },
            sets: self.sets.iter().cloned().map(Arc::new).collect(),
            revisions: self.revisions.clone(),
        };
        let once = inject(pod, &around)?;
        assert_eq!(inject(once.clone(), &around)?, once, "twice differs");
        Ok(once)
    }

    /// The names of the containers then, in their order.
    pub(crate) fn names(&self, pod: Pod) -> String {
        let pod = self.inject(pod).unwrap();
        let containers = pod.spec.unwrap().containers;
        let names: Vec<_> = containers.into_iter().map(|one| one.name).collect();
        names.join(" ")
    }
}

/// A set for the Pods that [`pod_of`] makes.
pub(crate) fn set_of(name: &str, mut spec: Value) -> SidecarSet {
    spec["selector"] = json!({"matchLabels": {"app": "web"}});
    let set = json!({
        "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(set).unwrap()
}

/// A Pod with one container, and more metadata.
pub(crate) fn pod_of(mut metadata: Value) -> Pod {
    metadata["labels"] = json!({"app": "web"});
    let pod = json!({"metadata": metadata, "spec": {"containers": [{"name": "app"}]}});
    serde_json::from_value(pod).unwrap()
}

/// A Pod with other containers.
pub(crate) fn pod_with(spec: Value) -> Pod {
    let pod = json!({"metadata": {"name": "p", "labels": {"app": "web"}}, "spec": spec});
    serde_json::from_value(pod).unwrap()
}

fn one(spec: Value) -> Case {
    Case {
        sets: vec![set_of("one", spec)],
        ..Case::default()
    }
}

#[test]
fn sidecars_stand_where_their_set_says_and_sets_come_by_name() {
    let before = json!({"containers": [{"name": "a"}]});
    let after = json!({"containers": [{"name": "z", "podInjectPolicy": "AfterAppContainer"}]});
    let both = json!({"containers": [
        {"name": "b", "podInjectPolicy": "BeforeAppContainer"},
        {"name": "y", "podInjectPolicy": "AfterAppContainer"},
    ]});
    for (sets, wanted) in [
        (vec![], "app"),
        (vec![("one", &before)], "a app"),
        (vec![("one", &after)], "app z"),
        (vec![("two", &both), ("one", &before)], "a b app y"),
        (vec![("two", &after), ("one", &both)], "b app y z"),
    ] {
        let sets = sets
            .into_iter()
            .map(|(name, spec)| set_of(name, spec.clone()));
        let case = Case {
            sets: sets.collect(),
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), wanted);
    }
}

#[test]
fn those_that_run_first_come_by_name_after_those_of_the_pod() {
    let case = one(json!({"initContainers": [
        {"name": "c"}, {"name": "b", "restartPolicy": "Always"},
        {"name": "a", "podInjectPolicy": "BeforeAppContainer"},
    ]}));
    let pod =
        pod_with(json!({"containers": [{"name": "app"}], "initContainers": [{"name": "own"}]}));
    let spec = case.inject(pod).unwrap().spec.unwrap();
    let first = spec.init_containers.unwrap();
    let names: Vec<_> = first.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "own", "b", "c"]);
    assert!(first.iter().skip(2).all(super::is_injected));
}

#[test]
fn a_pod_that_no_set_selects_stays_as_it_is() {
    let case = one(json!({"containers": [{"name": "a"}]}));
    let mut pod = pod_of(json!({}));
    pod.metadata.labels = None;
    assert_eq!(case.inject(pod.clone()).unwrap(), pod);
}

#[test]
fn a_pod_tells_what_it_got() {
    let case = one(json!({"containers": [{"name": "a", "image": "i:1"}]}));
    let pod = case.inject(pod_of(json!({}))).unwrap();
    let set = &case.sets[0];
    let entry = &injected(&pod)["one"];
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
    let plain = &injected_without_image(&pod)["one"];
    assert_eq!(plain.hash, spec_hash_without_image(set));
    assert_eq!(plain.controller_revision, None);
    assert!(injected_list(&pod).contains("one"));
}

#[test]
fn a_newer_set_replaces_its_own_container_and_none_of_the_pod() {
    let old = one(json!({"containers": [{"name": "a", "image": "v1"}]}));
    let new = one(json!({"containers": [{"name": "a", "image": "v2"}]}));
    let mut once = old.inject(pod_of(json!({}))).unwrap();
    let token = json!([{"name": "token", "mountPath": "/var/run/secrets"}]);
    once.spec.as_mut().unwrap().containers[0].volume_mounts =
        serde_json::from_value(token).unwrap();
    let spec = new.inject(once).unwrap().spec.unwrap();
    assert_eq!(spec.containers.len(), 2);
    assert_eq!(spec.containers[0].image.as_deref(), Some("v2"));
    let mounts = spec.containers[0].volume_mounts.as_ref().unwrap();
    assert_eq!(mounts[0].name, "token");
    for clash in [
        json!({"containers": [{"name": "app"}]}),
        json!({"initContainers": [{"name": "app"}]}),
    ] {
        assert_eq!(
            one(clash).inject(pod_of(json!({}))),
            Err(Error::Taken {
                set: "one".to_owned(),
                container: "app".to_owned()
            })
        );
    }
}

#[test]
fn only_volumes_that_are_mounted_come_along_and_the_pods_own_stay() {
    let case = one(json!({
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
    let names: Vec<_> = volumes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["own", "used"]);
    assert!(volumes[0].host_path.is_some());
    let secrets = spec.image_pull_secrets.unwrap();
    let names: Vec<_> = secrets.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["x", "y"]);
}

#[test]
fn a_sidecar_that_is_upgraded_hot_is_two_containers() {
    let case = one(
        json!({"containers": [{"name": "a", "image": "real:1", "upgradeStrategy":
        {"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "empty:1"}}]}),
    );
    let pod = case.inject(pod_of(json!({}))).unwrap();
    let annotations = pod.annotations().clone();
    for (key, wanted) in [
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
            Some(wanted),
            "{key}"
        );
    }
    let containers = pod.spec.unwrap().containers;
    let images: Vec<_> = containers
        .iter()
        .map(|one| (one.name.as_str(), one.image.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(images, [("a-1", "real:1"), ("a-2", "empty:1"), ("app", "")]);
    let env: Vec<_> = containers[1]
        .env
        .iter()
        .flatten()
        .map(|one| &one.name)
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
