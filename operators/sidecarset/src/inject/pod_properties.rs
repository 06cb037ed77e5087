//! What holds for every Pod and all sets. A failure prints the smallest case and its seed.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Container;
use kubewright::prelude::*;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop};
use proptest::sample::select;
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::{Surroundings, inject, is_injected};
use crate::place::Place;
use crate::record::injected_list;
use crate::{Error, SidecarSet};

/// A container of a set; which one is in its name, so that only one of a Pod's own may have it.
fn sidecar(set: usize, place: usize) -> impl Strategy<Value = Value> {
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
        let name = name.unwrap_or_else(|| format!("s{set}-{place}"));
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
        let all: Vec<_> = (0..count).map(|place| sidecar(number, place)).collect();
        all
    });
    let initial = (0..3_usize).prop_flat_map(move |count| {
        let all = (0..count).map(|place| (sidecar(number, place + 5), any::<bool>()));
        all.collect::<Vec<_>>()
    });
    let apps = select(vec!["web", "web", "web", "api"]);
    (main, initial, annotations(), apps, any::<bool>()).prop_map(
        move |(main, initial, annotations, app, is_paused)| {
            let initial: Vec<_> = initial.into_iter().map(first).collect();
            let set = json!({
                "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
                "metadata": {"name": format!("set{number}")},
                "spec": {
                    "selector": {"matchLabels": {"app": app}},
                    "containers": main, "initContainers": initial,
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

/// A container that runs before the others, or from then on.
fn first((mut sidecar, is_native): (Value, bool)) -> Value {
    sidecar["upgradeStrategy"] = json!({});
    if is_native {
        sidecar["restartPolicy"] = json!("Always");
    }
    sidecar
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
    let container = (select(envs), select(mounts), select(resources));
    let container = container.prop_map(|(env, mounts, resources)| {
        json!({"image": "app:1", "env": env, "volumeMounts": mounts, "resources": resources})
    });
    let containers = prop::collection::vec(container, 1..4);
    let notes = vec![json!({}), json!({"k": r#"{"c":3}"#}), json!({"l": "text"})];
    (containers, 0..3_usize, select(notes)).prop_map(|(containers, initial, notes)| {
        let named = |(place, mut one): (usize, Value)| {
            one["name"] = json!(format!("app{place}"));
            one
        };
        let main: Vec<_> = containers.into_iter().enumerate().map(named).collect();
        let initial: Vec<_> = (0..initial)
            .map(|place| json!({"name": format!("init{place}"), "image": "init:1"}))
            .collect();
        let pod = json!({
            "metadata": {"name": "p", "labels": {"app": "web"}, "annotations": notes},
            "spec": {
                "containers": main, "initContainers": initial,
                "volumes": [{"name": "own", "emptyDir": {}}],
            },
        });
        serde_json::from_value(pod).unwrap()
    })
}

fn injected(pod: &Pod, sets: &[SidecarSet]) -> Result<Pod, Error> {
    let around = Surroundings {
        place: Place {
            name: "default",
            labels: None,
        },
        sets: sets.iter().cloned().map(Arc::new).collect(),
        revisions: Vec::new(),
    };
    inject(pod.clone(), &around)
}

/// Both lists of containers.
fn lists(pod: &Pod) -> [Vec<Container>; 2] {
    let spec = pod.spec.clone().unwrap();
    [spec.init_containers.unwrap_or_default(), spec.containers]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn injection_is_idempotent_and_ordered_and_leaves_the_pod_what_it_had(
        pod in pod(),
        sets in (set(0), set(1), set(2)),
        count in 0..4_usize,
    ) {
        let mut sets = vec![sets.0, sets.1, sets.2];
        sets.truncate(count);
        let once = injected(&pod, &sets);
        let forwards = sets.clone();
        sets.reverse();
        let backwards = injected(&pod, &sets);
        let Ok(once) = once else {
            prop_assert!(backwards.is_err(), "an order that makes it possible");
            return Ok(());
        };
        prop_assert_eq!(Some(&once), backwards.as_ref().ok(), "the order of sets matters");
        let again = injected(&once, &forwards);
        prop_assert_eq!(Some(&once), again.as_ref().ok(), "twice differs");

        let mut names = BTreeSet::new();
        for (before, after) in lists(&pod).into_iter().zip(lists(&once)) {
            for one in &after {
                prop_assert!(names.insert(one.name.clone()), "{} is there twice", one.name);
            }
            let own: Vec<_> = after.into_iter().filter(|one| !is_injected(one)).collect();
            prop_assert_eq!(own, before, "the Pod's own containers");
        }
        let volumes = |pod: &Pod| pod.spec.clone().unwrap().volumes.unwrap_or_default();
        prop_assert!(volumes(&once).starts_with(&volumes(&pod)));
        let listed = injected_list(&once);
        for set in &forwards {
            let app = set.spec.selector.clone().unwrap().match_labels.unwrap()["app"].clone();
            let is_for = app == "web" && !set.spec.injection_strategy.paused;
            prop_assert_eq!(listed.contains(&set.name_any()), is_for);
            for sidecar in set.spec.containers.iter().filter(|one| !one.is_hot()) {
                let name = &sidecar.container.name;
                // The Pod may have a container of its own that is called so.
                prop_assert_eq!(names.contains(name), is_for || name == "app0");
            }
        }
    }
}
