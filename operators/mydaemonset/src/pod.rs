//! The Pod that one node gets, and how to tell it from others.

use k8s_openapi::api::core::v1::{
    Affinity, Container, Node, NodeAffinity, NodeSelector, NodeSelectorRequirement,
    NodeSelectorTerm, PodSpec, Toleration,
};
use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

use crate::MyDaemonSet;

const SET: &str = "mydaemonset";
const REVISION: &str = "controller-revision-hash";

/// A Pod's name has at most 253 characters, nine of which are the hash.
const LONGEST_PREFIX: usize = 244;
const LONGEST_LABEL: usize = 63;

/// What a node may suffer from while its Pod starts and stays.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The Pod that `set` wants on the named node.
///
/// It is pinned by affinity and not by `nodeName`, so that the scheduler still counts resources
/// and ports.
pub(crate) fn for_node(set: &MyDaemonSet, node: &str) -> Pod {
    let labels = [(SET, label_for(set)), (REVISION, revision(set))];
    Pod {
        metadata: ObjectMeta {
            name: Some(name_for(set, node)),
            namespace: set.namespace(),
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value)).into()),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "app".to_owned(),
                image: Some(set.spec.image.clone()),
                ..Container::default()
            }],
            affinity: Some(Affinity {
                node_affinity: Some(only(node)),
                ..Affinity::default()
            }),
            tolerations: Some(TOLERATED.map(tolerate).into()),
            ..PodSpec::default()
        }),
        ..Pod::default()
    }
}

/// The name follows from the set and the node, so that the next run finds the same Pod. The uid
/// tells the set from one of the same name whose Pods are still going.
pub(crate) fn name_for(set: &MyDaemonSet, node: &str) -> String {
    let uid = set.uid().unwrap_or_default();
    let name: String = set.name_any().chars().take(LONGEST_PREFIX).collect();
    let name = name.trim_end_matches(['.', '-']);
    format!("{name}-{}", hash(&format!("{uid}/{node}")))
}

/// The set's name, or what follows from it where that does not fit.
fn label_for(set: &MyDaemonSet) -> String {
    let name = set.name_any();
    match name.len() {
        ..=LONGEST_LABEL => name,
        _ => hash(&name),
    }
}

/// Whether the Pod runs the spec as it is now.
pub(crate) fn is_current(pod: &Pod, set: &MyDaemonSet) -> bool {
    pod.labels().get(REVISION) == Some(&revision(set))
}

/// Whether the Pod is on its way out.
pub(crate) fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Whether the Pod has ended and will not run again.
pub(crate) fn is_finished(pod: &Pod) -> bool {
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Failed" | "Succeeded"))
}

/// How long ago the Pod was made; nothing when the API server's clock is ahead of ours.
pub(crate) fn age(pod: &Pod, now: Timestamp) -> Duration {
    let made = pod.creation_timestamp().map_or(now, |made| made.0);
    Duration::try_from(now.duration_since(made)).unwrap_or_default()
}

/// Whether the Pod serves.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// Whether some taint of the node that is not tolerated has one of these effects.
pub(crate) fn is_repelled(node: &Node, effects: &[&str]) -> bool {
    let spec = node.spec.iter();
    let mut taints = spec.flat_map(|spec| spec.taints.iter().flatten());
    taints.any(|taint| {
        effects.contains(&taint.effect.as_str())
            && !TOLERATED.contains(&(taint.key.as_str(), taint.effect.as_str()))
    })
}

fn tolerate((key, effect): (&str, &str)) -> Toleration {
    Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some(effect.to_owned()),
        ..Toleration::default()
    }
}

fn only(node: &str) -> NodeAffinity {
    let name = NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    NodeAffinity {
        required_during_scheduling_ignored_during_execution: Some(NodeSelector {
            node_selector_terms: vec![NodeSelectorTerm {
                match_fields: Some(vec![name]),
                ..NodeSelectorTerm::default()
            }],
        }),
        ..NodeAffinity::default()
    }
}

fn revision(set: &MyDaemonSet) -> String {
    hash(&set.spec.image)
}

/// Eight characters that follow from the text (FNV-1a), of Kubernetes' alphabet for such names.
fn hash(text: &str) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let digits = (0..8).map(|_| {
        let digit = state % 27;
        state /= 27;
        digit
    });
    digits
        .filter_map(|digit| ALPHABET.get(usize::try_from(digit).ok()?))
        .map(|byte| char::from(*byte))
        .collect()
}

#[cfg(test)]
mod tests {
    use kubewright::prelude::*;

    use super::{SET, for_node, name_for};
    use crate::{MyDaemonSet, MyDaemonSetSpec};

    fn set(name: &str, uid: &str) -> MyDaemonSet {
        let spec = MyDaemonSetSpec {
            image: "v1".to_owned(),
        };
        let mut set = MyDaemonSet::new(name, spec);
        set.metadata.uid = Some(uid.to_owned());
        set
    }

    #[test]
    fn a_set_that_is_made_again_has_pods_of_other_names() {
        let (former, present) = (set("web", "1"), set("web", "2"));
        assert_ne!(name_for(&former, "a"), name_for(&present, "a"));
        assert_ne!(name_for(&present, "a"), name_for(&present, "b"));
        assert_eq!(name_for(&present, "a"), name_for(&present, "a"));
    }

    #[test]
    fn the_longest_name_of_a_set_still_makes_a_valid_pod() {
        let long = set(&"a.".repeat(126), "1");
        let pod = for_node(&long, "a");
        let name = pod.name_any();
        assert!(name.len() <= 253 && !name.contains(".-"), "{name}");
        let label = &pod.labels()[SET];
        assert!((1..=63).contains(&label.len()), "{label}");
        let short = for_node(&set("web", "1"), "a");
        assert_eq!(short.labels()[SET], "web");
    }
}
