//! The Pod that one node gets, and how to tell it from others.

use k8s_openapi::api::core::v1::{
    Affinity, Container, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodCondition,
    PodSpec,
};
use k8s_openapi::jiff::Timestamp;
use kubewright::prelude::*;

use crate::MyDaemonSet;
use crate::node::tolerations_of;

const SET: &str = "mydaemonset";
const REVISION: &str = "controller-revision-hash";

/// A Pod's name has at most 253 characters, nine of which are the hash.
const LONGEST_PREFIX: usize = 244;
const LONGEST_LABEL: usize = 63;

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
        affinity: Some(only(node, set.spec.affinity.clone().unwrap_or_default())),
        host_network: set.spec.host_network.then_some(true),
        node_selector: (!selector.is_empty()).then(|| selector.clone()),
        tolerations: Some(tolerations_of(set)),
        ..PodSpec::default()
    }
}

/// The affinity, with this node in the place of those that it requires.
fn only(node: &str, mut affinity: Affinity) -> Affinity {
    let name = NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let pinned = NodeSelector {
        node_selector_terms: vec![NodeSelectorTerm {
            match_fields: Some(vec![name]),
            ..NodeSelectorTerm::default()
        }],
    };
    affinity
        .node_affinity
        .get_or_insert_default()
        .required_during_scheduling_ignored_during_execution = Some(pinned);
    affinity
}

/// The name follows from the set and the node, so that the next run finds the same Pod. The uid
/// tells the set from one of the same name whose Pods are still going. Where old and new Pods run
/// side by side, the revision tells them apart.
pub(crate) fn name_for(set: &MyDaemonSet, node: &str) -> String {
    let uid = set.uid().unwrap_or_default();
    let mut purpose = format!("{uid}/{node}");
    if set.spec.update_strategy.max_surge.is_some() {
        purpose = format!("{purpose}/{}", revision(set));
    }
    let name: String = set.name_any().chars().take(LONGEST_PREFIX).collect();
    let name = name.trim_end_matches(['.', '-']);
    format!("{name}-{}", hash(&purpose))
}

/// The set's name, or what follows from it where that does not fit.
fn label_for(set: &MyDaemonSet) -> String {
    let name = set.name_any();
    match name.len() {
        ..=LONGEST_LABEL => name,
        _ => hash(&name),
    }
}

/// The node that the Pod runs on, or is to run on.
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

/// Whether the scheduler has given the Pod its node.
pub(crate) fn is_scheduled(pod: &Pod) -> bool {
    let spec = pod.spec.as_ref();
    spec.is_some_and(|spec| spec.node_name.is_some())
}

/// Whether the Pod runs the spec of this revision.
pub(crate) fn is_current(pod: &Pod, revision: &str) -> bool {
    let runs = pod.labels().get(REVISION);
    runs.is_some_and(|runs| runs == revision)
}

/// Whether the Pod is on its way out.
pub(crate) fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// `Pending`, `Running`, `Failed`, `Succeeded`.
pub(crate) fn phase(pod: &Pod) -> &str {
    let status = pod.status.as_ref();
    let phase = status.and_then(|status| status.phase.as_deref());
    phase.unwrap_or("Pending")
}

/// Since when the Pod serves; none while it does not.
pub(crate) fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
    let is_ready = |one: &&PodCondition| one.type_ == "Ready" && one.status == "True";
    let ready = conditions.find(is_ready)?;
    let since = ready.last_transition_time.as_ref();
    Some(since.map_or(Timestamp::UNIX_EPOCH, |since| since.0))
}

/// What the Pods of the present spec are told by: all of the spec that is in them.
pub(crate) fn revision(set: &MyDaemonSet) -> String {
    let spec = serde_json::to_string(&spec_for(set, ""));
    hash(&spec.unwrap_or_default())
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
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kubewright::prelude::*;
    use serde_json::json;

    use super::{SET, for_node, is_current, name_for, node_of, revision};
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
    fn a_set_that_is_made_again_has_pods_of_other_names() {
        let (former, present) = (set("web", "1"), set("web", "2"));
        assert_ne!(name_for(&former, "a"), name_for(&present, "a"));
        assert_ne!(name_for(&present, "a"), name_for(&present, "b"));
        assert_eq!(name_for(&present, "a"), name_for(&present, "a"));
    }

    #[test]
    fn old_and_new_pods_have_one_name_unless_they_run_side_by_side() {
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
    fn only_what_is_in_the_pod_makes_it_outdated() {
        let set = set("web", "1");
        let pod = for_node(&set, "a");
        let mut patient = set.clone();
        patient.spec.min_ready_seconds = 5;
        assert!(is_current(&pod, &revision(&patient)));
        let mut on_host = set.clone();
        on_host.spec.host_network = true;
        assert!(!is_current(&pod, &revision(&on_host)));
    }

    #[test]
    fn the_pin_takes_the_place_of_the_required_affinity_and_leaves_the_rest() {
        let mut set = set("web", "1");
        let weak = json!([{"weight": 1, "preference": {}}]);
        set.spec.affinity = serde_json::from_value(json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]},
            "preferredDuringSchedulingIgnoredDuringExecution": weak,
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
                "preferredDuringSchedulingIgnoredDuringExecution": weak,
            })
        );
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
