//! The Pods of a set: how one is built, named and labelled for its node, and what is read from it.

use k8s_openapi::api::core::v1::{
    Affinity, Container, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodCondition,
    PodSpec,
};
use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

use crate::MyDaemonSet;
use crate::node::tolerations_of;

const SET_LABEL: &str = "mydaemonset";
const REVISION_LABEL: &str = "controller-revision-hash";

/// The name of a Pod has at most 253 characters, nine of which are a hyphen and the hash.
const MAX_NAME_PREFIX: usize = 244;
const MAX_LABEL_VALUE: usize = 63;

/// Builds the Pod of the set for the named node.
///
/// It is pinned by affinity and not by `nodeName`, so that the scheduler still checks resources
/// and ports.
pub(crate) fn for_node(set: &MyDaemonSet, node: &str) -> Pod {
    let labels = [(SET_LABEL, label_for(set)), (REVISION_LABEL, revision(set))];
    Pod {
        metadata: ObjectMeta {
            name: Some(name_for(set, node)),
            namespace: set.namespace(),
            labels: Some(labels.map(|(key, value)| (key.to_owned(), value)).into()),
            ..ObjectMeta::default()
        },
        spec: Some(spec_for(set, node)),
        ..Pod::default()
    }
}

fn spec_for(set: &MyDaemonSet, node: &str) -> PodSpec {
    let selector = &set.spec.node_selector;
    PodSpec {
        containers: vec![Container {
            name: "app".to_owned(),
            image: Some(set.spec.image.clone()),
            ..Container::default()
        }],
        affinity: Some(pinned(node, set.spec.affinity.clone().unwrap_or_default())),
        host_network: set.spec.host_network.then_some(true),
        node_selector: (!selector.is_empty()).then(|| selector.clone()),
        tolerations: Some(tolerations_of(set)),
        ..PodSpec::default()
    }
}

/// The affinity, with this node instead of the nodes that it requires.
fn pinned(node: &str, mut affinity: Affinity) -> Affinity {
    let name = NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let selector = NodeSelector {
        node_selector_terms: vec![NodeSelectorTerm {
            match_fields: Some(vec![name]),
            ..NodeSelectorTerm::default()
        }],
    };
    affinity
        .node_affinity
        .get_or_insert_default()
        .required_during_scheduling_ignored_during_execution = Some(selector);
    affinity
}

/// Returns the name of the Pod. It follows from the set and the node, so that a repeated run names
/// the same Pod.
///
/// The uid is part of the hash because Pods of a deleted set of the same name may still be
/// terminating, and with surge the revision, because old and new Pods run side by side.
pub(crate) fn name_for(set: &MyDaemonSet, node: &str) -> String {
    let uid = set.uid().unwrap_or_default();
    let mut key = format!("{uid}/{node}");
    if set.spec.update_strategy.max_surge.is_some() {
        key = format!("{key}/{}", revision(set));
    }
    let name: String = set.name_any().chars().take(MAX_NAME_PREFIX).collect();
    let prefix = name.trim_end_matches(['.', '-']);
    format!("{prefix}-{}", hash(&key))
}

/// The name of the set, or its hash if the name is too long for a label.
fn label_for(set: &MyDaemonSet) -> String {
    let name = set.name_any();
    if name.len() <= MAX_LABEL_VALUE {
        name
    } else {
        hash(&name)
    }
}

/// Returns the node that the Pod runs on or is pinned to.
pub(crate) fn node_of(pod: &Pod) -> Option<&str> {
    let spec = pod.spec.as_ref()?;
    if let Some(node) = spec.node_name.as_deref() {
        return Some(node);
    }
    let affinity = spec.affinity.as_ref()?.node_affinity.as_ref()?;
    let required = &affinity.required_during_scheduling_ignored_during_execution;
    let term = required.as_ref()?.node_selector_terms.first()?;
    let name = term.match_fields.as_ref()?.first()?;
    name.values.as_ref()?.first().map(String::as_str)
}

/// Whether the scheduler has bound the Pod to its node.
pub(crate) fn is_scheduled(pod: &Pod) -> bool {
    let spec = pod.spec.as_ref();
    spec.is_some_and(|spec| spec.node_name.is_some())
}

/// Whether the Pod runs the spec of this revision.
pub(crate) fn is_current(pod: &Pod, revision: &str) -> bool {
    let label = pod.labels().get(REVISION_LABEL);
    label.is_some_and(|label| label == revision)
}

/// Whether the Pod is being deleted.
pub(crate) fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Returns the time at which the Pod was created.
pub(crate) fn created_at(pod: &Pod) -> Option<Timestamp> {
    pod.creation_timestamp().map(|time| time.0)
}

/// Returns the phase: `Pending`, `Running`, `Failed` or `Succeeded`.
pub(crate) fn phase(pod: &Pod) -> &str {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    phase.unwrap_or("Pending")
}

/// Returns the time since which the Pod is ready, or none while it is not.
pub(crate) fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let is_ready =
        |condition: &&PodCondition| condition.type_ == "Ready" && condition.status == "True";
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let ready = conditions.iter().find(is_ready)?;
    let since = ready.last_transition_time.as_ref();
    Some(since.map_or(Timestamp::UNIX_EPOCH, |time| time.0))
}

/// Returns the hash that identifies Pods of the current spec. It covers the fields that reach a
/// Pod, so that a change of the others replaces no Pods.
pub(crate) fn revision(set: &MyDaemonSet) -> String {
    let spec = serde_json::to_string(&spec_for(set, ""));
    hash(&spec.expect("a PodSpec serializes to JSON"))
}

/// Hashes the text (FNV-1a) into eight characters of the alphabet that Kubernetes uses for
/// generated names (k8s.io/apimachinery/pkg/util/rand).
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
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kubewright::prelude::*;
    use serde_json::json;

    use super::{SET_LABEL, for_node, is_current, name_for, node_of, revision};
    use crate::{MyDaemonSet, MyDaemonSetSpec};

    fn set(name: &str, uid: &str) -> MyDaemonSet {
        let spec = MyDaemonSetSpec {
            image: "v1".to_owned(),
            ..MyDaemonSetSpec::default()
        };
        let mut set = MyDaemonSet::new(name, spec);
        set.metadata.uid = Some(uid.to_owned());
        set
    }

    #[test]
    fn pods_of_a_recreated_set_have_new_names() {
        let (former, recreated) = (set("web", "1"), set("web", "2"));
        assert_ne!(name_for(&former, "a"), name_for(&recreated, "a"));
        assert_ne!(name_for(&recreated, "a"), name_for(&recreated, "b"));
        assert_eq!(name_for(&recreated, "a"), name_for(&recreated, "a"));
    }

    #[test]
    fn old_and_new_pods_have_different_names_only_with_surge() {
        let old = set("web", "1");
        let mut new = old.clone();
        new.spec.image = "v2".to_owned();
        assert_eq!(name_for(&old, "a"), name_for(&new, "a"));
        let surge = |set: &MyDaemonSet| {
            let mut set = set.clone();
            set.spec.update_strategy.max_surge = Some(IntOrString::Int(1));
            name_for(&set, "a")
        };
        assert_ne!(surge(&old), surge(&new));
    }

    #[test]
    fn only_fields_that_reach_the_pod_change_the_revision() {
        let set = set("web", "1");
        let pod = for_node(&set, "a");
        let mut slower = set.clone();
        slower.spec.min_ready_seconds = 5;
        assert!(is_current(&pod, &revision(&slower)));
        let mut on_host = set.clone();
        on_host.spec.host_network = true;
        assert!(!is_current(&pod, &revision(&on_host)));
    }

    #[test]
    fn pin_replaces_the_required_affinity_and_keeps_the_rest() {
        let mut set = set("web", "1");
        let preferred = json!([{"weight": 1, "preference": {}}]);
        set.spec.affinity = serde_json::from_value(json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]},
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }}))
        .unwrap();
        let pod = for_node(&set, "a");
        assert_eq!(node_of(&pod), Some("a"));
        let json = serde_json::to_value(&pod).unwrap();
        assert_eq!(
            json["spec"]["affinity"]["nodeAffinity"],
            json!({
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]},
                ]},
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            })
        );
    }

    #[test]
    fn set_with_the_longest_name_gets_a_valid_pod() {
        let long = set(&"a.".repeat(126), "1");
        let pod = for_node(&long, "a");
        let name = pod.name_any();
        assert!(name.len() <= 253 && !name.contains(".-"), "{name}");
        let label = &pod.labels()[SET_LABEL];
        assert!((1..=63).contains(&label.len()), "{label}");
        let short = for_node(&set("web", "1"), "a");
        assert_eq!(short.labels()[SET_LABEL], "web");
    }
}
