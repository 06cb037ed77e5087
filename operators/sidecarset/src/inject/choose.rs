use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::Surroundings;
use crate::hash::percentile;
use crate::selector::matches;
use crate::{
    Error, RevisionPolicy, SidecarSet, chosen_revision, latest_revision, restore, selects,
};

/// Says that a set tries something out in the place of another one.
const CANARY: &str = "apps.kruise.io/sidecarset-canary";
/// The set in whose place it does.
const BASE: &str = "apps.kruise.io/sidecarset-base";

/// A set for a Pod, in the version that the Pod gets.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) set: Arc<SidecarSet>,
    /// The name of its ControllerRevision.
    pub(super) revision: String,
}

/// The sets for a Pod, in the order of their names, whatever order they are given in.
pub(super) fn choose(pod: &Pod, around: &Surroundings<'_>) -> Result<Vec<Chosen>, Error> {
    let mut sets = Vec::new();
    for set in &around.sets {
        let is_going = set.metadata.deletion_timestamp.is_some();
        if is_going || set.spec.injection_strategy.paused {
            continue;
        }
        match selects(set, pod, around.place) {
            Some(true) => sets.push(set),
            Some(false) => {}
            None => {
                return Err(Error::UnknownNamespace {
                    set: set.name_any(),
                    namespace: around.place.name.to_owned(),
                });
            }
        }
    }
    sets.sort_by_key(|set| set.name_any());
    let replaced: BTreeSet<_> = sets.iter().filter_map(|set| base_of(set)).collect();
    sets.iter()
        .filter(|set| !replaced.contains(&set.name_any()))
        .map(|set| version(pod, set, around))
        .collect()
}

/// The set in whose place a canary stands; none when it is no canary.
pub(crate) fn base_of(set: &SidecarSet) -> Option<&String> {
    let labels = set.labels();
    let is_canary = labels.get(CANARY).is_some_and(|value| value == "true");
    labels.get(BASE).filter(|_| is_canary)
}

fn version(pod: &Pod, set: &Arc<SidecarSet>, around: &Surroundings<'_>) -> Result<Chosen, Error> {
    if !is_older_wanted(pod, set, around.place.name) {
        return Ok(Chosen {
            set: Arc::clone(set),
            revision: latest_revision(set),
        });
    }
    let wanted = set.spec.injection_strategy.revision.clone();
    let wanted = wanted.unwrap_or_default();
    let missing = || Error::NoRevision {
        set: set.name_any(),
        revision: wanted
            .revision_name
            .clone()
            .or(wanted.custom_version.clone())
            .unwrap_or_default(),
    };
    let found: &Arc<ControllerRevision> =
        chosen_revision(set, &around.revisions).ok_or_else(missing)?;
    Ok(Chosen {
        set: Arc::new(restore(set, found).ok_or_else(missing)?),
        revision: found.name_any(),
    })
}

/// Whether this Pod gets the version that the set names in its injection strategy.
fn is_older_wanted(pod: &Pod, set: &SidecarSet, namespace: &str) -> bool {
    let Some(revision) = &set.spec.injection_strategy.revision else {
        return false;
    };
    if revision.is_present_of(set) {
        return false;
    }
    let update = &set.spec.update_strategy;
    if update.paused || revision.policy.unwrap_or_default() == RevisionPolicy::Always {
        return true;
    }
    if let Some(selector) = &update.selector
        && !matches(selector, pod.labels())
    {
        return true;
    }
    match &update.partition {
        Some(IntOrString::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|text| text.parse().ok());
            percentile(&[&set.name_any(), namespace, &workload(pod)]) < percent.unwrap_or(0)
        }
        _ => false,
    }
}

/// What all Pods of one workload have in common, so that they get the same version each time.
fn workload(pod: &Pod) -> String {
    let mut owners = pod.owner_references().iter();
    let owner = owners.find(|one| one.controller == Some(true));
    let names = [&pod.metadata.generate_name, &pod.metadata.name];
    let name = || names.into_iter().flatten().next().cloned();
    owner
        .map(|owner| owner.uid.clone())
        .or_else(name)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use crate::inject::pod::tests::{Case, pod_of, set_of};
    use crate::{Error, revise};

    fn image(pod: &kubewright::prelude::Pod) -> String {
        let containers = &pod.spec.as_ref().unwrap().containers;
        containers[0].image.clone().unwrap()
    }

    /// The image that a Pod gets from a set that went from `i:1` to `i:2` and has this strategy.
    fn injected_image(injection: Value, update: Value, pod: Value) -> Result<String, Error> {
        let container = |image: &str| json!([{"name": "a", "image": image}]);
        let old = set_of(
            "s",
            json!({"containers": container("i:1"), "customVersion": "one"}),
        );
        let held = revise(&old, &[], &BTreeSet::new()).write.unwrap();
        let new = set_of(
            "s",
            json!({"containers": container("i:2"), "injectionStrategy": injection,
                "customVersion": "two", "updateStrategy": update}),
        );
        let case = Case {
            sets: vec![new],
            revisions: vec![held.into()],
        };
        case.inject(pod_of(pod)).map(|pod| image(&pod))
    }

    #[test]
    fn the_version_follows_from_both_strategies() {
        let named = |policy: &str| json!({"revision": {"customVersion": "one", "policy": policy}});
        let blue = json!({"matchLabels": {"color": "blue"}});
        for (injection, update, wanted) in [
            (json!({}), json!({}), "i:2"),
            (named("Always"), json!({}), "i:1"),
            (
                json!({"revision": {"customVersion": "two"}}),
                json!({}),
                "i:2",
            ),
            (
                named("Always"),
                json!({"selector": {"matchLabels": {"app": "web"}}}),
                "i:1",
            ),
            (named("Partial"), json!({}), "i:2"),
            (named("Partial"), json!({"paused": true}), "i:1"),
            (named("Partial"), json!({"selector": blue}), "i:1"),
            (named("Partial"), json!({"partition": 5}), "i:2"),
            (named("Partial"), json!({"partition": "100%"}), "i:1"),
            (named("Partial"), json!({"partition": "0%"}), "i:2"),
        ] {
            let text = format!("{injection} {update}");
            let image = injected_image(injection, update, json!({})).unwrap();
            assert_eq!(image, wanted, "{text}");
        }
        let missing = json!({"revision": {"customVersion": "none"}});
        assert!(matches!(
            injected_image(missing, json!({}), json!({})),
            Err(Error::NoRevision { .. })
        ));
    }

    #[test]
    fn pods_of_one_workload_get_the_same_version() {
        let named = json!({"revision": {"customVersion": "one", "policy": "Partial"}});
        let third = json!({"partition": "30%"});
        let mut old = 0;
        for workload in 0..200 {
            let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r",
                "uid": format!("uid-{workload}"), "controller": true}]);
            let pod = |name: &str| json!({"name": name, "ownerReferences": owner});
            let one = injected_image(named.clone(), third.clone(), pod("a")).unwrap();
            let two = injected_image(named.clone(), third.clone(), pod("b")).unwrap();
            assert_eq!(one, two);
            old += usize::from(one == "i:1");
        }
        assert!((40..80).contains(&old), "{old} of 200");
    }

    #[test]
    fn a_canary_stands_in_the_place_of_its_base() {
        let mut canary = set_of("canary", json!({"containers": [{"name": "new"}]}));
        canary.metadata.labels = Some(
            [
                (
                    "apps.kruise.io/sidecarset-canary".to_owned(),
                    "true".to_owned(),
                ),
                (
                    "apps.kruise.io/sidecarset-base".to_owned(),
                    "base".to_owned(),
                ),
            ]
            .into(),
        );
        let base = set_of("base", json!({"containers": [{"name": "old"}]}));
        let case = Case {
            sets: vec![base, canary],
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), "new app");
    }

    #[test]
    fn paused_and_leaving_sets_inject_nothing() {
        let containers = json!([{"name": "a"}]);
        let paused = json!({"containers": containers, "injectionStrategy": {"paused": true}});
        let mut going = set_of("going", json!({"containers": containers}));
        going.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        let case = Case {
            sets: vec![set_of("paused", paused), going],
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), "app");
    }
}
