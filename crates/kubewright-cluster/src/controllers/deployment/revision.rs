//! Revisions and other annotations of ReplicaSets.

use kubewright_apiserver::store::Object;
use serde_json::{Map, Value};

use super::rollout::{DESIRED_REPLICAS, Rollout};

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";

/// Annotations that a ReplicaSet does not copy from its Deployment (`annotationsToSkip`).
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

/// The length of the list of old revisions (`maxRevHistoryLengthInChars`).
const MAX_HISTORY_LENGTH: usize = 2000;

/// The revision of a ReplicaSet, zero without the annotation; `None` when the annotation is not a
/// number.
pub(super) fn revision(set: &Object) -> Option<i64> {
    match set.annotation(REVISION) {
        None => Some(0),
        Some(annotation) => annotation.parse().ok(),
    }
}

/// The revision of the new ReplicaSet: one more than that of every old one.
pub(super) fn next_revision(rollout: &Rollout) -> i64 {
    let newest = rollout.old.iter().filter_map(|set| revision(set)).max();
    newest.unwrap_or_default() + 1
}

/// The annotations that the new ReplicaSet lacks or has with another value, as fields of a merge
/// patch (`SetNewReplicaSetAnnotations`). Without a set, those that it is created with.
pub(super) fn annotations_for(rollout: &Rollout, set: Option<&Object>) -> Map<String, Value> {
    let mut changes = Map::new();
    let present = |key: &str| set.and_then(|set| set.annotation(key));
    let copied = rollout.deployment.metadata("annotations");
    for (key, value) in copied.and_then(Value::as_object).into_iter().flatten() {
        if !NOT_COPIED.contains(&key.as_str()) && present(key) != value.as_str() {
            changes.insert(key.clone(), value.clone());
        }
    }
    let next = next_revision(rollout);
    let annotation = present(REVISION).unwrap_or_default();
    let old = match annotation {
        "" => 0,
        annotation => match annotation.parse::<i64>() {
            Ok(old) => old,
            Err(_) => return changes,
        },
    };
    if old < next {
        changes.insert(REVISION.to_owned(), next.to_string().into());
        if !annotation.is_empty() {
            let history = with_revision(present(REVISION_HISTORY).unwrap_or_default(), annotation);
            changes.insert(REVISION_HISTORY.to_owned(), history.into());
        }
    }
    if set.is_none() {
        changes.extend(size_annotations(rollout));
    }
    changes
}

/// The list of revisions with one more. The oldest are dropped when it becomes too long.
fn with_revision(history: &str, revision: &str) -> String {
    let mut revisions: Vec<&str> = history
        .split(',')
        .filter(|revision| !revision.is_empty())
        .collect();
    revisions.push(revision);
    while revisions.len() > 1 && revisions.join(",").len() > MAX_HISTORY_LENGTH {
        revisions.remove(0);
    }
    revisions.join(",")
}

/// The annotations with the size of the Deployment and the most Pods that it may have.
pub(super) fn size_annotations(rollout: &Rollout) -> Map<String, Value> {
    let max_replicas = rollout.replicas + rollout.max_surge();
    [
        (DESIRED_REPLICAS, rollout.replicas),
        (MAX_REPLICAS, max_replicas),
    ]
    .into_iter()
    .map(|(key, size)| (key.to_owned(), size.to_string().into()))
    .collect()
}

/// The most Pods that the Deployment might have when the ReplicaSet was last resized.
pub(super) fn max_replicas_before(set: &Object) -> Option<i64> {
    let annotation = set.annotation(MAX_REPLICAS)?;
    annotation.parse::<u32>().ok().map(i64::from)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::super::rollout::Rollout;
    use super::{annotations_for, with_revision};

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn rolled_back_set_gets_the_next_revision_and_keeps_its_history() {
        let template = |image: &str| json!({"spec": {"image": image}});
        let deployment = json!({
            "metadata": {"annotations": {
                "note": "n", "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "deployment.kubernetes.io/revision": "2",
            }},
            "spec": {"replicas": 3, "template": template("a")},
        });
        let set = |image: &str, revision: &str| {
            object(json!({
                "metadata": {"name": image, "annotations": {"deployment.kubernetes.io/revision": revision}},
                "spec": {"template": template(image)},
            }))
        };
        let rollout = Rollout::read(object(deployment), vec![set("a", "1"), set("b", "2")]);
        let new = rollout.new.clone().unwrap();
        assert_eq!(
            Value::from(annotations_for(&rollout, Some(&new))),
            json!({
                "note": "n",
                "deployment.kubernetes.io/revision": "3",
                "deployment.kubernetes.io/revision-history": "1",
            })
        );
        assert_eq!(
            annotations_for(&rollout, None)["deployment.kubernetes.io/max-replicas"],
            "4"
        );
    }

    #[test]
    fn revision_history_drops_the_oldest_entries() {
        assert_eq!(with_revision("", "1"), "1");
        assert_eq!(with_revision("1,2", "5"), "1,2,5");
        let long = vec!["100"; 600].join(",");
        let cut = with_revision(&long, "200");
        assert!(cut.len() <= 2000 && cut.ends_with(",200"), "{}", cut.len());
    }
}
