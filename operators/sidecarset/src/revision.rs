use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use kubewright::prelude::*;
use serde_json::{Value, json};

use crate::SidecarSet;
use crate::hash::hash;

/// The label of ControllerRevisions that names their set.
pub const SET_LABEL: &str = "kruise.io/sidecarset-name";
/// The label of ControllerRevisions that carries the user's name for the version.
pub const CUSTOM_VERSION_LABEL: &str = "apps.kruise.io/sidecarset-custom-version";

/// How many versions are kept unless the set says so.
const KEPT: i32 = 10;
/// As much of a hash as tells the versions of one set apart.
const NAME_HASH: usize = 10;
/// What a version consists of.
const PARTS: [&str; 5] = [
    "containers",
    "imagePullSecrets",
    "initContainers",
    "patchPodMetadata",
    "volumes",
];

/// What is to be done so that the versions of a set are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Revised {
    /// The name of the present version.
    pub latest: String,
    /// How often a name was taken already.
    pub collisions: i32,
    /// The present version, when it is to be written; in which namespace is for others to say.
    pub write: Option<ControllerRevision>,
    /// Versions that nobody needs.
    pub surplus: Vec<Arc<ControllerRevision>>,
}

/// What is to be done so that the present version of a set is kept, and not too many older ones.
///
/// `held` are the versions there are, `in_use` the names of those that Pods have.
pub fn revise(
    set: &SidecarSet,
    held: &[Arc<ControllerRevision>],
    in_use: &BTreeSet<String>,
) -> Revised {
    let data = revision_data(set);
    let newest = held.iter().map(|one| one.revision).max().unwrap_or(0);
    let mut revised = Revised {
        collisions: collisions(set),
        ..Revised::default()
    };
    let same = held.iter().filter(|one| content(one) == Some(&data));
    let same = same.max_by_key(|one| one.revision);
    let number = match same {
        Some(one) => {
            revised.latest = one.name_any();
            let is_newest = one.revision == newest;
            let label = one.labels().get(CUSTOM_VERSION_LABEL);
            if is_newest && label == set.spec.custom_version.as_ref() {
                None
            } else {
                Some(newest + i64::from(!is_newest))
            }
        }
        None => {
            revised.latest = revision_name(set, revised.collisions);
            while held.iter().any(|one| one.name_any() == revised.latest) {
                revised.collisions += 1;
                revised.latest = revision_name(set, revised.collisions);
            }
            Some(newest + 1)
        }
    };
    revised.write = number.map(|number| revision(set, &revised.latest, data, number));
    revised.surplus = surplus(set, held, (&revised.latest, in_use));
    revised
}

/// The oldest go first, but none that a Pod has or that is to be injected.
fn surplus(
    set: &SidecarSet,
    held: &[Arc<ControllerRevision>],
    (latest, in_use): (&str, &BTreeSet<String>),
) -> Vec<Arc<ControllerRevision>> {
    let limit = set.spec.revision_history_limit.unwrap_or(KEPT).max(1);
    let limit = usize::try_from(limit).unwrap_or(1);
    let named = chosen_revision(set, held).map(|one| one.name_any());
    let is_needed = |one: &ControllerRevision| {
        let name = one.name_any();
        name == latest || Some(&name) == named.as_ref() || in_use.contains(&name)
    };
    let is_new = !held.iter().any(|one| one.name_any() == latest);
    let excess = (held.len() + usize::from(is_new)).saturating_sub(limit);
    let mut oldest: Vec<_> = held.iter().filter(|one| !is_needed(one)).collect();
    oldest.sort_by_key(|one| (one.revision, one.name_any()));
    oldest.into_iter().take(excess).map(Arc::clone).collect()
}

/// What the set was in that version; none when it cannot be told.
pub fn restore(set: &SidecarSet, revision: &ControllerRevision) -> Option<SidecarSet> {
    let spec = content(revision)?.get("spec")?;
    let mut restored = serde_json::to_value(&set.spec).ok()?;
    for part in PARTS {
        match spec.get(part).filter(|value| !value.is_null()) {
            Some(value) => restored[part] = value.clone(),
            None => {
                restored.as_object_mut()?.remove(part);
            }
        }
    }
    Some(SidecarSet {
        spec: serde_json::from_value(restored).ok()?,
        ..set.clone()
    })
}

/// The version that the set wants in new Pods, among these.
pub fn chosen_revision<'r>(
    set: &SidecarSet,
    held: &'r [Arc<ControllerRevision>],
) -> Option<&'r Arc<ControllerRevision>> {
    let wanted = set.spec.injection_strategy.revision.as_ref()?;
    let name = set.name_any();
    let mut own = held
        .iter()
        .filter(|one| one.labels().get(SET_LABEL) == Some(&name));
    if let Some(revision) = &wanted.revision_name {
        return own.find(|one| one.metadata.name.as_ref() == Some(revision));
    }
    let version = wanted.custom_version.as_ref()?;
    own.filter(|one| one.labels().get(CUSTOM_VERSION_LABEL) == Some(version))
        .max_by_key(|one| one.revision)
}

/// The name of the set's present version, as its status or its content tells.
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
    let hash: String = hash.chars().take(NAME_HASH).collect();
    format!("{}-{hash}", set.name_any())
}

fn revision_data(set: &SidecarSet) -> Value {
    let spec = serde_json::to_value(&set.spec).unwrap_or_default();
    let mut kept = json!({"$patch": "replace"});
    for part in PARTS {
        if let Some(value) = spec.get(part) {
            kept[part] = value.clone();
        }
    }
    json!({"spec": kept})
}

fn revision(set: &SidecarSet, name: &str, data: Value, number: i64) -> ControllerRevision {
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

fn content(revision: &ControllerRevision) -> Option<&Value> {
    revision.data.as_ref().map(|data| &data.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use k8s_openapi::api::apps::v1::ControllerRevision;
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{Revised, chosen_revision, restore, revise};
    use crate::SidecarSet;

    fn set(image: &str, more: Value) -> SidecarSet {
        let mut spec = json!({"containers": [{"name": "a", "image": image}]});
        for (key, value) in more.as_object().unwrap() {
            spec[key] = value.clone();
        }
        let set = json!({
            "apiVersion": "apps.kruise.io/v1beta1", "kind": "SidecarSet",
            "metadata": {"name": "s"}, "spec": spec,
        });
        serde_json::from_value(set).unwrap()
    }

    /// The revisions after each of these sets was the present one, and what was done last.
    fn history(sets: &[SidecarSet], used: &[&str]) -> (Vec<Arc<ControllerRevision>>, Revised) {
        let (mut held, mut last) = (Vec::<Arc<ControllerRevision>>::new(), Revised::default());
        for set in sets {
            let in_use: BTreeSet<_> = used.iter().map(|one| (*one).to_owned()).collect();
            last = revise(set, &held, &in_use);
            held.retain(|one| !last.surplus.contains(one));
            if let Some(write) = &last.write {
                held.retain(|one| one.name_any() != write.name_any());
                held.push(Arc::new(write.clone()));
            }
        }
        (held, last)
    }

    fn images(held: &[Arc<ControllerRevision>]) -> Vec<(i64, String)> {
        let image = |one: &Arc<ControllerRevision>| {
            let data = &one.data.as_ref().unwrap().0;
            let image = data["spec"]["containers"][0]["image"].as_str().unwrap();
            (one.revision, image.to_owned())
        };
        let mut images: Vec<_> = held.iter().map(image).collect();
        images.sort();
        images
    }

    fn plain(image: &str) -> SidecarSet {
        set(image, json!({}))
    }

    #[test]
    fn each_version_is_kept_once_and_the_same_one_is_not_written_again() {
        let (held, _) = history(&[plain("i:1"), plain("i:2")], &[]);
        assert_eq!(images(&held), [(1, "i:1".into()), (2, "i:2".into())]);
        let (_, last) = history(&[plain("i:1"), plain("i:1")], &[]);
        assert_eq!(last.write, None);
        // What is not part of a version makes none.
        let paused = set("i:1", json!({"updateStrategy": {"paused": true}}));
        assert_eq!(history(&[plain("i:1"), paused], &[]).1.write, None);
    }

    #[test]
    fn going_back_raises_the_number_of_the_older_version() {
        let (held, last) = history(&[plain("i:1"), plain("i:2"), plain("i:1")], &[]);
        assert_eq!(images(&held), [(2, "i:2".into()), (3, "i:1".into())]);
        assert_eq!(last.collisions, 0);
    }

    #[test]
    fn a_name_that_is_taken_is_counted_and_another_one_found() {
        let mut taken = revise(&plain("i:1"), &[], &BTreeSet::new()).write.unwrap();
        taken.data = None;
        let revised = revise(&plain("i:1"), &[Arc::new(taken.clone())], &BTreeSet::new());
        assert_eq!(revised.collisions, 1);
        assert_ne!(revised.latest, taken.name_any());
    }

    #[test]
    fn the_oldest_go_and_those_in_use_stay() {
        let limit = |image: &str| set(image, json!({"revisionHistoryLimit": 2}));
        let sets = ["i:1", "i:2", "i:3", "i:4"].map(limit);
        let (held, _) = history(&sets, &[]);
        assert_eq!(images(&held), [(3, "i:3".into()), (4, "i:4".into())]);
        let first = revise(&sets[0], &[], &BTreeSet::new()).latest;
        let (held, _) = history(&sets, &[&first]);
        assert_eq!(images(&held), [(1, "i:1".into()), (4, "i:4".into())]);
        // The floor is one, the present version.
        let floor = |image: &str| set(image, json!({"revisionHistoryLimit": 0}));
        let (held, _) = history(&["i:1", "i:2"].map(floor), &[]);
        assert_eq!(images(&held), [(2, "i:2".into())]);
    }

    #[test]
    fn a_version_is_found_by_either_name_and_restored() {
        let old = set(
            "i:1",
            json!({"customVersion": "one", "volumes": [{"name": "v"}]}),
        );
        let new = set("i:2", json!({"customVersion": "two"}));
        let (held, _) = history(&[old.clone(), new], &[]);
        let first = revise(&old, &[], &BTreeSet::new()).latest;
        for wanted in [
            json!({"customVersion": "one"}),
            json!({"revisionName": first}),
        ] {
            let injects = set("i:2", json!({"injectionStrategy": {"revision": wanted}}));
            let found = chosen_revision(&injects, &held).unwrap();
            let restored = restore(&injects, found).unwrap();
            assert_eq!(restored.spec.containers, old.spec.containers);
            assert_eq!(restored.spec.volumes, old.spec.volumes);
            assert_eq!(
                restored.spec.injection_strategy,
                injects.spec.injection_strategy
            );
        }
        let none = json!({"injectionStrategy": {"revision": {"customVersion": "no"}}});
        assert_eq!(chosen_revision(&set("i:2", none), &held), None);
    }
}
