//! Which sets are injected into a Pod, and each in which version.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;

use super::InjectionContext;
use crate::hash::percentile;
use crate::kind::base_of;
use crate::selector::matches;
use crate::{
    Error, RevisionPolicy, SidecarSet, chosen_revision, latest_revision, restore, selects,
};

/// A set in the version that a Pod gets.
#[derive(Clone, Debug)]
pub(super) struct SetVersion {
    pub(super) set: Arc<SidecarSet>,
    /// The name of its ControllerRevision.
    pub(super) revision: String,
}

/// Returns the sets for a Pod in the order of their names, so that the result does not depend on the
/// order of the cache.
pub(super) fn set_versions(
    pod: &Pod,
    context: &InjectionContext<'_>,
) -> Result<Vec<SetVersion>, Error> {
    let mut sets = Vec::new();
    for set in &context.sets {
        let is_terminating = set.metadata.deletion_timestamp.is_some();
        if is_terminating || set.spec.injection_strategy.paused {
            continue;
        }
        match selects(set, pod, context.namespace) {
            Some(true) => sets.push(set),
            Some(false) => {}
            None => {
                return Err(Error::UnknownNamespace {
                    set: set.name_any(),
                    namespace: context.namespace.name.to_owned(),
                });
            }
        }
    }
    sets.sort_by_key(|set| set.name_any());
    let replaced: BTreeSet<_> = sets.iter().filter_map(|set| base_of(set)).collect();
    sets.iter()
        .filter(|set| !replaced.contains(&set.name_any()))
        .map(|set| set_version(pod, set, context))
        .collect()
}

fn set_version(
    pod: &Pod,
    set: &Arc<SidecarSet>,
    context: &InjectionContext<'_>,
) -> Result<SetVersion, Error> {
    if !gets_named_revision(pod, set, context.namespace.name) {
        return Ok(SetVersion {
            set: Arc::clone(set),
            revision: latest_revision(set),
        });
    }
    let missing = || {
        let named = set.spec.injection_strategy.revision.as_ref();
        let name = named.and_then(|named| {
            let name = named.revision_name.as_ref();
            name.or(named.custom_version.as_ref()).cloned()
        });
        Error::NoRevision {
            set: set.name_any(),
            revision: name.unwrap_or_default(),
        }
    };
    let revision = chosen_revision(set, &context.revisions).ok_or_else(missing)?;
    Ok(SetVersion {
        set: Arc::new(restore(set, revision).ok_or_else(missing)?),
        revision: revision.name_any(),
    })
}

/// Whether the Pod gets the revision that the injection strategy names, and not the latest one.
fn gets_named_revision(pod: &Pod, set: &SidecarSet, namespace: &str) -> bool {
    let Some(revision) = &set.spec.injection_strategy.revision else {
        return false;
    };
    if revision.is_current_version_of(set) {
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

/// Identifies the workload of a Pod, so that all of its Pods get the same version.
fn workload(pod: &Pod) -> String {
    let mut owners = pod.owner_references().iter();
    if let Some(owner) = owners.find(|owner| owner.controller == Some(true)) {
        return owner.uid.clone();
    }
    let name = pod.metadata.generate_name.as_ref();
    name.or(pod.metadata.name.as_ref())
        .cloned()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use crate::inject::fixtures::{Case, pod_of, set_of};
    use crate::names::{BASE_LABEL, CANARY_LABEL};
    use crate::{Error, plan_revisions};

    fn image(pod: &kubewright::prelude::Pod) -> String {
        let containers = &pod.spec.as_ref().unwrap().containers;
        containers[0].image.clone().unwrap()
    }

    /// Returns the image that a Pod gets from a set that was changed from `i:1` to `i:2` and has
    /// these strategies.
    fn injected_image(injection: Value, update: Value, pod: Value) -> Result<String, Error> {
        let container = |image: &str| json!([{"name": "a", "image": image}]);
        let old = set_of(
            "s",
            json!({"containers": container("i:1"), "customVersion": "one"}),
        );
        let revision = plan_revisions(&old, &[], &BTreeSet::new()).write.unwrap();
        let new = set_of(
            "s",
            json!({"containers": container("i:2"), "injectionStrategy": injection,
                "customVersion": "two", "updateStrategy": update}),
        );
        let case = Case {
            sets: vec![new],
            revisions: vec![revision.into()],
        };
        case.inject(pod_of(pod)).map(|pod| image(&pod))
    }

    #[test]
    fn version_depends_on_the_injection_and_the_update_strategy() {
        let named = |policy: &str| json!({"revision": {"customVersion": "one", "policy": policy}});
        let blue = json!({"matchLabels": {"color": "blue"}});
        for (injection, update, expected) in [
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
            assert_eq!(image, expected, "{text}");
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
            let first = injected_image(named.clone(), third.clone(), pod("a")).unwrap();
            let second = injected_image(named.clone(), third.clone(), pod("b")).unwrap();
            assert_eq!(first, second);
            old += usize::from(first == "i:1");
        }
        assert!((40..80).contains(&old), "{old} of 200");
    }

    #[test]
    fn canary_is_injected_instead_of_its_base() {
        let mut canary = set_of("canary", json!({"containers": [{"name": "new"}]}));
        let labels = [(CANARY_LABEL, "true"), (BASE_LABEL, "base")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        canary.metadata.labels = Some(labels.into());
        let base = set_of("base", json!({"containers": [{"name": "old"}]}));
        let case = Case {
            sets: vec![base, canary],
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), "new app");
    }

    #[test]
    fn paused_and_terminating_sets_are_not_injected() {
        let containers = json!([{"name": "a"}]);
        let paused = json!({"containers": containers, "injectionStrategy": {"paused": true}});
        let mut terminating = set_of("terminating", json!({"containers": containers}));
        terminating.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        let case = Case {
            sets: vec![set_of("paused", paused), terminating],
            ..Case::default()
        };
        assert_eq!(case.names(pod_of(json!({}))), "app");
    }
}
