//! Properties of the injection of any sets into any Pod. A failure prints the smallest case and its
//! seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Container;
use kubewright::prelude::*;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{inject, is_injected};
use crate::inject::InjectionContext;
use crate::pod_annotations::injected_sets;
use crate::pod_namespace::PodNamespace;
use crate::{Error, SidecarSet};

/// A container with a name that is unique among all sets, or with that of a container of the Pod.
fn sidecar(set: usize, index: usize) -> impl Strategy<Value = Value> {
    let policies = vec![
        Value::Null,
        json!("BeforeAppContainer"),
        json!("AfterAppContainer"),
    ];
    let mounts = vec![json!([]), json!([{"name": "data", "mountPath": "/data"}])];
    let transfers = vec![
        json!([]),
        json!([{"sourceContainerName": "app0", "envName": "COLOR"}]),
        json!([{"sourceContainerName": "app1", "envNames": ["COLOR", "SIZE"]}]),
    ];
    let upgrades = vec![
        json!({}),
        json!({"upgradeType": "HotUpgrade", "hotUpgradeEmptyImage": "e:1"}),
    ];
    let resources = vec![
        Value::Null,
        json!({"targetContainersMode": "sum", "resourcesExpr": {"limits": {"cpu": "cpu*50%"}}}),
        json!({"targetContainersMode": "max", "resourcesExpr": {"requests": {"memory": "memory"}}}),
    ];
    let shares = vec![json!({}), json!({"type": "enabled"})];
    let parts = (
        select(policies),
        select(mounts),
        select(transfers),
        select(upgrades),
        select(resources),
        select(shares),
    );
    let names = prop::option::weighted(0.05, Just("app0".to_owned()));
    (names, parts).prop_map(move |(name, parts)| {
        let (policy, mounts, transfer, upgrade, resources, share) = parts;
        let name = name.unwrap_or_else(|| format!("s{set}-{index}"));
        json!({
            "name": name, "image": "i:1", "env": [{"name": "OWN", "value": "1"}],
            "podInjectPolicy": policy, "volumeMounts": mounts, "transferEnv": transfer,
            "upgradeStrategy": upgrade, "resourcesPolicy": resources, "shareVolumePolicy": share,
        })
    })
}

fn annotations() -> impl Strategy<Value = Value> {
    let values = select(vec![r#"{"a":1}"#, r#"{"a":null,"b":2}"#, "plain"]);
    let policies = select(vec!["Retain", "Overwrite", "MergePatchJson"]);
    let keys = select(vec!["k", "l"]);
    prop::option::of((keys, values, policies)).prop_map(|patch| match patch {
        Some((key, value, policy)) => {
            json!([{"annotations": {key: value}, "patchPolicy": policy}])
        }
        None => json!([]),
    })
}

fn set(number: usize) -> impl Strategy<Value = SidecarSet> {
    let main = (0..3_usize).prop_flat_map(move |count| {
        let sidecars = (0..count).map(|index| sidecar(number, index));
        sidecars.collect::<Vec<_>>()
    });
    let init = (0..3_usize).prop_flat_map(move |count| {
        let sidecars = (0..count).map(|index| init_sidecar(number, index + 5));
        sidecars.collect::<Vec<_>>()
    });
    let apps = select(vec!["web", "web", "web", "api"]);
    (main, init, annotations(), apps, any::<bool>()).prop_map(
        move |(main, init, annotations, app, is_paused)| {
            let set = json!({
                "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
                "metadata": {"name": format!("set{number}")},
                "spec": {
                    "selector": {"matchLabels": {"app": app}},
                    "containers": main, "initContainers": init,
                    "volumes": [{"name": "data", "emptyDir": {}}],
                    "imagePullSecrets": [{"name": "registry"}],
                    "patchPodMetadata": annotations,
                    "injectionStrategy": {"paused": is_paused && number == 0},
                },
            });
            serde_json::from_value(set).unwrap()
        },
    )
}

/// An init container or a native sidecar.
fn init_sidecar(set: usize, index: usize) -> impl Strategy<Value = Value> {
    (sidecar(set, index), any::<bool>()).prop_map(|(mut sidecar, is_native)| {
        sidecar["upgradeStrategy"] = json!({});
        if is_native {
            sidecar["restartPolicy"] = json!("Always");
        }
        sidecar
    })
}

fn pod() -> impl Strategy<Value = Pod> {
    let envs = vec![
        json!([]),
        json!([{"name": "COLOR", "value": "blue"}]),
        json!([{"name": "COLOR", "value": "red"}, {"name": "SIZE", "value": "1"}]),
    ];
    let mounts = vec![json!([]), json!([{"name": "own", "mountPath": "/data"}])];
    let resources = vec![
        json!({}),
        json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"memory": "1Mi"}}),
    ];
    let parts = (select(envs), select(mounts), select(resources));
    let container = parts.prop_map(|(env, mounts, resources)| {
        json!({"image": "app:1", "env": env, "volumeMounts": mounts, "resources": resources})
    });
    let containers = prop::collection::vec(container, 1..4);
    let annotations = vec![json!({}), json!({"k": r#"{"c":3}"#}), json!({"l": "text"})];
    (containers, 0..3_usize, select(annotations)).prop_map(|(mut main, init_count, annotations)| {
        for (index, container) in main.iter_mut().enumerate() {
            container["name"] = json!(format!("app{index}"));
        }
        let init: Vec<_> = (0..init_count)
            .map(|index| json!({"name": format!("init{index}"), "image": "init:1"}))
            .collect();
        let pod = json!({
            "metadata": {"name": "p", "labels": {"app": "web"}, "annotations": annotations},
            "spec": {
                "containers": main, "initContainers": init,
                "volumes": [{"name": "own", "emptyDir": {}}],
            },
        });
        serde_json::from_value(pod).unwrap()
    })
}

fn inject_sets(pod: &Pod, sets: &[SidecarSet]) -> Result<Pod, Error> {
    let context = InjectionContext {
        namespace: PodNamespace {
            name: "default",
            labels: None,
        },
        sets: sets.iter().cloned().map(Arc::new).collect(),
        revisions: Vec::new(),
    };
    inject(pod.clone(), &context)
}

/// The init containers and the containers.
fn lists(pod: &Pod) -> [Vec<Container>; 2] {
    let spec = pod.spec.clone().unwrap();
    [spec.init_containers.unwrap_or_default(), spec.containers]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn injection_is_idempotent_and_independent_of_the_order_of_sets_and_keeps_the_pods_own_containers(
        pod in pod(),
        sets in (set(0), set(1), set(2)),
        count in 0..4_usize,
    ) {
        let mut sets = vec![sets.0, sets.1, sets.2];
        sets.truncate(count);
        let result = inject_sets(&pod, &sets);
        let reversed: Vec<_> = sets.iter().rev().cloned().collect();
        let reversed_result = inject_sets(&pod, &reversed);
        let Ok(injected) = result else {
            prop_assert!(reversed_result.is_err(), "the reverse order is possible");
            return Ok(());
        };
        let reversed_pod = reversed_result.as_ref().ok();
        prop_assert_eq!(Some(&injected), reversed_pod, "the order of sets matters");
        let again = inject_sets(&injected, &sets);
        prop_assert_eq!(Some(&injected), again.as_ref().ok(), "a second injection differs");

        let mut names = BTreeSet::new();
        for (before, after) in lists(&pod).into_iter().zip(lists(&injected)) {
            for container in &after {
                let name = &container.name;
                prop_assert!(names.insert(name.clone()), "{name} occurs twice");
            }
            let own: Vec<_> = after
                .into_iter()
                .filter(|container| !is_injected(container))
                .collect();
            prop_assert_eq!(own, before, "the Pod's own containers");
        }
        let volumes = |pod: &Pod| pod.spec.clone().unwrap().volumes.unwrap_or_default();
        prop_assert!(volumes(&injected).starts_with(&volumes(&pod)));
        let listed = injected_sets(&injected);
        for set in &sets {
            let app = set.spec.selector.clone().unwrap().match_labels.unwrap()["app"].clone();
            let is_selected = app == "web" && !set.spec.injection_strategy.paused;
            prop_assert_eq!(listed.contains(&set.name_any()), is_selected);
            for sidecar in set.spec.containers.iter().filter(|sidecar| !sidecar.is_hot()) {
                let name = &sidecar.container.name;
                // The Pod may have a container of that name itself.
                prop_assert_eq!(names.contains(name), is_selected || name == "app0");
            }
        }
    }
}
