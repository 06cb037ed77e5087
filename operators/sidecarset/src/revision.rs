//! The versions of a set, each in a ControllerRevision.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kubewright::prelude::*;
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::hash::hash;
use crate::names::{CUSTOM_VERSION_LABEL, SET_LABEL};

/// How many versions are kept by default.
const DEFAULT_HISTORY_LIMIT: i32 = 10;
/// The length of the hash in a name, which distinguishes the versions of one set.
const NAME_HASH_LENGTH: usize = 10;
/// The fields of the spec that make up a version.
const VERSIONED_FIELDS: [&str; 5] = [
    "containers",
    "imagePullSecrets",
    "initContainers",
    "patchPodMetadata",
    "volumes",
];

/// The changes to the revisions of a set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RevisionPlan {
    /// The name of the revision of the current version.
    pub latest: String,
    /// How many names were taken by other versions.
    pub collisions: i32,
    /// The revision of the current version, if it has to be written; without a namespace.
    pub write: Option<ControllerRevision>,
    /// Old revisions beyond the history limit.
    pub delete: Vec<Arc<ControllerRevision>>,
}

/// Plans the changes to the revisions of a set: the current version is kept, and old ones up to the
/// history limit.
///
/// `revisions` are the revisions of the set, `in_use` the names of those that Pods have.
pub fn plan_revisions(
    set: &SidecarSet,
    revisions: &[Arc<ControllerRevision>],
    in_use: &BTreeSet<String>,
) -> RevisionPlan {
    let current_data = revision_data(set);
    let newest = revisions
        .iter()
        .map(|revision| revision.revision)
        .max()
        .unwrap_or(0);
    let mut plan = RevisionPlan {
        collisions: collisions(set),
        ..RevisionPlan::default()
    };
    let same = revisions
        .iter()
        .filter(|revision| data(revision) == Some(&current_data))
        .max_by_key(|revision| revision.revision);
    let number = match same {
        Some(same) => {
            plan.latest = same.name_any();
            let is_newest = same.revision == newest;
            let label = same.labels().get(CUSTOM_VERSION_LABEL);
            if is_newest && label == set.spec.custom_version.as_ref() {
                None
            } else {
                Some(newest + i64::from(!is_newest))
            }
        }
        None => {
            plan.latest = revision_name(set, plan.collisions);
            while revisions
                .iter()
                .any(|revision| revision.name_any() == plan.latest)
            {
                plan.collisions += 1;
                plan.latest = revision_name(set, plan.collisions);
            }
            Some(newest + 1)
        }
    };
    plan.write = number.map(|number| new_revision(set, &plan.latest, current_data, number));
    plan.delete = beyond_limit(set, revisions, &plan.latest, in_use);
    plan
}

/// Returns the oldest revisions beyond the history limit, without those that Pods have or that are
/// to be injected.
fn beyond_limit(
    set: &SidecarSet,
    revisions: &[Arc<ControllerRevision>],
    latest: &str,
    in_use: &BTreeSet<String>,
) -> Vec<Arc<ControllerRevision>> {
    let history_limit = set
        .spec
        .revision_history_limit
        .unwrap_or(DEFAULT_HISTORY_LIMIT);
    // At least the latest revision is kept.
    let limit = usize::try_from(history_limit).unwrap_or(1).max(1);
    let chosen = chosen_revision(set, revisions).map(|revision| revision.name_any());
    let is_needed = |revision: &ControllerRevision| {
        let name = revision.name_any();
        name == latest || Some(&name) == chosen.as_ref() || in_use.contains(&name)
    };
    let is_latest_new = !revisions
        .iter()
        .any(|revision| revision.name_any() == latest);
    let excess = (revisions.len() + usize::from(is_latest_new)).saturating_sub(limit);
    let mut oldest: Vec<_> = revisions
        .iter()
        .filter(|revision| !is_needed(revision))
        .collect();
    oldest.sort_by_key(|revision| (revision.revision, revision.name_any()));
    oldest.into_iter().take(excess).map(Arc::clone).collect()
}

/// Returns the set with the versioned fields of a revision, or none if the revision is invalid.
pub fn restore(set: &SidecarSet, revision: &ControllerRevision) -> Option<SidecarSet> {
    let versioned = data(revision)?.get("spec")?;
    let mut spec = serde_json::to_value(&set.spec).ok()?;
    for field in VERSIONED_FIELDS {
        match versioned.get(field).filter(|value| !value.is_null()) {
            Some(value) => spec[field] = value.clone(),
            None => {
                spec.as_object_mut()?.remove(field);
            }
        }
    }
    Some(SidecarSet {
        spec: serde_json::from_value(spec).ok()?,
        ..set.clone()
    })
}

/// Returns the revision that the injection strategy of the set names.
pub fn chosen_revision<'r>(
    set: &SidecarSet,
    revisions: &'r [Arc<ControllerRevision>],
) -> Option<&'r Arc<ControllerRevision>> {
    let chosen = set.spec.injection_strategy.revision.as_ref()?;
    let set_name = set.name_any();
    let mut own = revisions
        .iter()
        .filter(|revision| revision.labels().get(SET_LABEL) == Some(&set_name));
    if let Some(name) = &chosen.revision_name {
        return own.find(|revision| revision.metadata.name.as_ref() == Some(name));
    }
    let version = chosen.custom_version.as_ref()?;
    own.filter(|revision| revision.labels().get(CUSTOM_VERSION_LABEL) == Some(version))
        .max_by_key(|revision| revision.revision)
}

/// Returns the name of the revision of the set's current version.
pub fn latest_revision(set: &SidecarSet) -> String {
    revision_name(set, collisions(set))
}

fn collisions(set: &SidecarSet) -> i32 {
    let status = set.status.as_ref();
    status
        .and_then(|status| status.collision_count)
        .unwrap_or_default()
}

fn revision_name(set: &SidecarSet, collisions: i32) -> String {
    let hash = hash(&json!([revision_data(set), collisions]));
    let suffix: String = hash.chars().take(NAME_HASH_LENGTH).collect();
    format!("{}-{suffix}", set.name_any())
}

fn revision_data(set: &SidecarSet) -> Value {
    let spec = json!(set.spec);
    let mut versioned = json!({"$patch": "replace"});
    for field in VERSIONED_FIELDS {
        if let Some(value) = spec.get(field) {
            versioned[field] = value.clone();
        }
    }
    json!({"spec": versioned})
}

fn new_revision(set: &SidecarSet, name: &str, data: Value, number: i64) -> ControllerRevision {
    let mut labels = vec![(SET_LABEL.to_owned(), set.name_any())];
    if let Some(version) = &set.spec.custom_version {
        labels.push((CUSTOM_VERSION_LABEL.to_owned(), version.clone()));
    }
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(labels.into_iter().collect()),
            ..ObjectMeta::default()
        },
        data: Some(RawExtension(data)),
        revision: number,
    }
}

fn data(revision: &ControllerRevision) -> Option<&Value> {
    revision.data.as_ref().map(|data| &data.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use k8s_openapi::api::apps::v1::ControllerRevision;
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{RevisionPlan, chosen_revision, plan_revisions, restore};
    use crate::SidecarSet;

    fn set(image: &str, fields: Value) -> SidecarSet {
        let mut spec = json!({"containers": [{"name": "a", "image": image}]});
        for (key, value) in fields.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        serde_json::from_value(set).unwrap()
    }

    /// Returns the revisions after each of these sets was the current one, and the last plan.
    fn history(sets: &[SidecarSet], used: &[&str]) -> (Vec<Arc<ControllerRevision>>, RevisionPlan) {
        let in_use: BTreeSet<_> = used.iter().map(|name| (*name).to_owned()).collect();
        let mut revisions = Vec::<Arc<ControllerRevision>>::new();
        let mut last = RevisionPlan::default();
        for set in sets {
            last = plan_revisions(set, &revisions, &in_use);
            revisions.retain(|revision| !last.delete.contains(revision));
            if let Some(write) = &last.write {
                revisions.retain(|revision| revision.name_any() != write.name_any());
                revisions.push(Arc::new(write.clone()));
            }
        }
        (revisions, last)
    }

    fn images(revisions: &[Arc<ControllerRevision>]) -> Vec<(i64, String)> {
        let image = |revision: &Arc<ControllerRevision>| {
            let data = &revision.data.as_ref().unwrap().0;
            let image = data["spec"]["containers"][0]["image"].as_str().unwrap();
            (revision.revision, image.to_owned())
        };
        let mut images: Vec<_> = revisions.iter().map(image).collect();
        images.sort();
        images
    }

    fn plain(image: &str) -> SidecarSet {
        set(image, json!({}))
    }

    #[test]
    fn each_version_is_written_once() {
        let (revisions, _) = history(&[plain("i:1"), plain("i:2")], &[]);
        assert_eq!(images(&revisions), [(1, "i:1".into()), (2, "i:2".into())]);
        let (_, last) = history(&[plain("i:1"), plain("i:1")], &[]);
        assert_eq!(last.write, None);
        // A change of other fields creates no revision.
        let paused = set("i:1", json!({"updateStrategy": {"paused": true}}));
        assert_eq!(history(&[plain("i:1"), paused], &[]).1.write, None);
    }

    #[test]
    fn reverted_set_raises_the_number_of_the_old_revision() {
        let (revisions, last) = history(&[plain("i:1"), plain("i:2"), plain("i:1")], &[]);
        assert_eq!(images(&revisions), [(2, "i:2".into()), (3, "i:1".into())]);
        assert_eq!(last.collisions, 0);
    }

    #[test]
    fn collision_of_names_is_counted_and_avoided() {
        let mut taken = plan_revisions(&plain("i:1"), &[], &BTreeSet::new())
            .write
            .unwrap();
        taken.data = None;
        let plan = plan_revisions(&plain("i:1"), &[Arc::new(taken.clone())], &BTreeSet::new());
        assert_eq!(plan.collisions, 1);
        assert_ne!(plan.latest, taken.name_any());
    }

    #[test]
    fn oldest_revisions_are_deleted_unless_in_use() {
        let limit = |image: &str| set(image, json!({"revisionHistoryLimit": 2}));
        let sets = ["i:1", "i:2", "i:3", "i:4"].map(limit);
        let (revisions, _) = history(&sets, &[]);
        assert_eq!(images(&revisions), [(3, "i:3".into()), (4, "i:4".into())]);
        let first = plan_revisions(&sets[0], &[], &BTreeSet::new()).latest;
        let (revisions, _) = history(&sets, &[&first]);
        assert_eq!(images(&revisions), [(1, "i:1".into()), (4, "i:4".into())]);
        // At least the current version is kept.
        let no_history = |image: &str| set(image, json!({"revisionHistoryLimit": 0}));
        let (revisions, _) = history(&["i:1", "i:2"].map(no_history), &[]);
        assert_eq!(images(&revisions), [(2, "i:2".into())]);
    }

    #[test]
    fn revision_is_found_by_either_name_and_restored() {
        let old = set(
            "i:1",
            json!({"customVersion": "one", "volumes": [{"name": "v"}]}),
        );
        let new = set("i:2", json!({"customVersion": "two"}));
        let (revisions, _) = history(&[old.clone(), new], &[]);
        let first = plan_revisions(&old, &[], &BTreeSet::new()).latest;
        for chosen in [
            json!({"customVersion": "one"}),
            json!({"revisionName": first}),
        ] {
            let injects = set("i:2", json!({"injectionStrategy": {"revision": chosen}}));
            let found = chosen_revision(&injects, &revisions).unwrap();
            let restored = restore(&injects, found).unwrap();
            assert_eq!(restored.spec.containers, old.spec.containers);
            assert_eq!(restored.spec.volumes, old.spec.volumes);
            assert_eq!(
                restored.spec.injection_strategy,
                injects.spec.injection_strategy
            );
        }
        let none = json!({"injectionStrategy": {"revision": {"customVersion": "no"}}});
        assert_eq!(chosen_revision(&set("i:2", none), &revisions), None);
    }
}
