use serde_json::{Map, Value, json};

use super::rollout::{Rollout, wanted};
use crate::view::text;
use kubewright_apiserver::store::Object;

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
const HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MOST: &str = "deployment.kubernetes.io/max-replicas";
pub(super) const HASH: &str = "pod-template-hash";

/// What a ReplicaSet does not take over from its Deployment.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
];

/// How long the list of old revisions may be (`maxRevHistoryLengthInChars`).
const HISTORY_LENGTH: usize = 2000;

/// Whether two templates make the same Pods: the label that tells ReplicaSets apart aside.
pub(super) fn is_same_template(one: &Value, two: &Value) -> bool {
    without_hash(one) == without_hash(two)
}

fn without_hash(template: &Value) -> Value {
    let mut template = template.clone();
    let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut) else {
        return template;
    };
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    let is_said = |value: &Value| {
        !value.is_null() && value.as_object().is_none_or(|members| !members.is_empty())
    };
    metadata.retain(|_, value| is_said(value));
    if metadata.is_empty()
        && let Some(template) = template.as_object_mut()
    {
        template.remove("metadata");
    }
    template
}

/// What tells the ReplicaSets of a Deployment apart: short, made of letters that make no words,
/// the same for the same template.
pub(super) fn template_hash(template: &Value, collisions: i64) -> String {
    let text = format!("{}{collisions}", without_hash(template));
    let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    const ALPHABET: [char; 27] = [
        'b', 'c', 'd', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'q', 'r', 's', 't', 'v', 'w',
        'x', 'z', '2', '4', '5', '6', '7', '8', '9',
    ];
    let letter = |byte: u8| ALPHABET[usize::from(byte) % ALPHABET.len()];
    hash.to_string().bytes().map(letter).collect()
}

/// The revision of a ReplicaSet; none when what is noted is no number.
pub(super) fn revision(set: &Object) -> Option<i64> {
    match set.annotation(REVISION) {
        None => Some(0),
        Some(noted) => noted.parse().ok(),
    }
}

/// The revision that the new ReplicaSet has or gets: one more than any old one.
pub(super) fn next_revision(rollout: &Rollout) -> i64 {
    let newest = rollout.old.iter().filter_map(|set| revision(set)).max();
    newest.unwrap_or_default() + 1
}

/// The annotations that the new ReplicaSet lacks or has wrong, as members of a patch
/// (`SetNewReplicaSetAnnotations`).
pub(super) fn annotations_for(rollout: &Rollout, set: Option<&Object>) -> Map<String, Value> {
    let mut changes = Map::new();
    let present = |key: &str| set.and_then(|set| set.annotation(key));
    let given = rollout.deployment.metadata("annotations");
    for (key, value) in given.and_then(Value::as_object).into_iter().flatten() {
        if !OWN.contains(&key.as_str()) && present(key) != value.as_str() {
            changes.insert(key.clone(), value.clone());
        }
    }
    let next = next_revision(rollout);
    let noted = present(REVISION).unwrap_or_default();
    let old = match noted {
        "" => 0,
        noted => match noted.parse::<i64>() {
            Ok(old) => old,
            Err(_) => return changes,
        },
    };
    if old < next {
        changes.insert(REVISION.to_owned(), next.to_string().into());
        if !noted.is_empty() {
            let history = with_revision(present(HISTORY).unwrap_or_default(), noted);
            changes.insert(HISTORY.to_owned(), history.into());
        }
    }
    if set.is_none() {
        changes.extend(size_annotations(rollout));
    }
    changes
}

/// The list of revisions with one more; the oldest make room.
fn with_revision(history: &str, revision: &str) -> String {
    let mut revisions: Vec<&str> = history.split(',').filter(|one| !one.is_empty()).collect();
    revisions.push(revision);
    while revisions.len() > 1 && revisions.join(",").len() > HISTORY_LENGTH {
        revisions.remove(0);
    }
    revisions.join(",")
}

/// How large the Deployment is and may become, as its ReplicaSets note it.
pub(super) fn size_annotations(rollout: &Rollout) -> Map<String, Value> {
    let most = rollout.replicas + rollout.surge();
    [(DESIRED, rollout.replicas), (MOST, most)]
        .into_iter()
        .map(|(key, size)| (key.to_owned(), size.to_string().into()))
        .collect()
}

/// How large the Deployment might become when the ReplicaSet was last sized.
pub(super) fn most_before(set: &Object) -> Option<i64> {
    let noted = set.annotation(MOST)?;
    noted.parse::<u32>().ok().map(i64::from)
}

/// Whether the ReplicaSet has all Pods of the Deployment (`IsSaturated`).
pub(super) fn is_saturated(rollout: &Rollout, set: &Object) -> bool {
    let noted = set.annotation(DESIRED).and_then(|noted| noted.parse().ok());
    wanted(set) == rollout.replicas
        && noted == Some(rollout.replicas)
        && super::rollout::counted(set, "availableReplicas") == rollout.replicas
}

/// The ReplicaSet that the Deployment's template asks for, with so many Pods.
pub(super) fn new_set(rollout: &Rollout, hash: &str, size: i64) -> Value {
    let deployment = rollout.deployment.value();
    let template = deployment.pointer("/spec/template").cloned();
    let mut template = template.unwrap_or_else(|| json!({}));
    template["metadata"]["labels"][HASH] = hash.into();
    let mut selector = deployment.pointer("/spec/selector").cloned();
    let selector = selector.get_or_insert_with(|| json!({}));
    selector["matchLabels"][HASH] = hash.into();
    let mut spec = json!({
        "replicas": size,
        "selector": selector,
        "template": template,
    });
    if let Some(wait) = deployment.pointer("/spec/minReadySeconds") {
        spec["minReadySeconds"] = wait.clone();
    }
    let name: String = text(deployment, "/metadata/name")
        .chars()
        .take(253 - 1 - hash.len())
        .collect();
    json!({
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{name}-{hash}"),
            "labels": template["metadata"]["labels"],
            "annotations": annotations_for(rollout, None),
        },
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{annotations_for, is_same_template, template_hash, with_revision};
    use crate::deployment::rollout::Rollout;
    use kubewright_apiserver::store::Object;

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    #[test]
    fn templates_are_the_same_but_for_the_hash() {
        let plain = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"x": 1}});
        let hashed = json!({"metadata": {"labels": {"app": "web", "pod-template-hash": "b"}}, "spec": {"x": 1}});
        let other = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"x": 2}});
        assert!(is_same_template(&plain, &hashed));
        assert!(!is_same_template(&plain, &other));
        assert_eq!(template_hash(&plain, 0), template_hash(&hashed, 0));
        assert_ne!(template_hash(&plain, 0), template_hash(&other, 0));
        assert_ne!(template_hash(&plain, 0), template_hash(&plain, 1));
    }

    #[test]
    fn a_set_that_becomes_the_new_one_again_gets_the_next_revision_and_keeps_its_history() {
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
    fn the_history_forgets_the_oldest() {
        assert_eq!(with_revision("", "1"), "1");
        assert_eq!(with_revision("1,2", "5"), "1,2,5");
        let long = vec!["100"; 600].join(",");
        let cut = with_revision(&long, "200");
        assert!(cut.len() <= 2000 && cut.ends_with(",200"), "{}", cut.len());
    }
}
