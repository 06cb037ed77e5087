//! Filters nodes by their own properties and load.

use super::filter_failure::FilterFailure;
use super::node_facts::{NodeFacts, Taint};
use super::pod_requirements::PodRequirements;
use super::resource_amounts::ResourceAmounts;

/// What the Pods of a node take up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeLoad {
    pub(super) pods: usize,
    pub(super) used: ResourceAmounts,
}

/// Why the Pod does not fit on a node with this load; `None` when it fits.
pub(super) fn filter_node(
    pod: &PodRequirements,
    node: &NodeFacts,
    load: &NodeLoad,
) -> Option<FilterFailure> {
    let affinity = pod.required_node_affinity();
    let names = affinity.and_then(|affinity| affinity.names());
    if names.is_some_and(|names| !names.contains(node.name.as_str())) {
        return Some(FilterFailure::NodeName);
    }
    if node.is_unschedulable && !pod.tolerates(&unschedulable_taint()) {
        return Some(FilterFailure::Unschedulable);
    }
    if has_untolerated_taint(pod, node) {
        return Some(FilterFailure::Taint);
    }
    if !matches_node_affinity(pod, node) {
        return Some(FilterFailure::NodeAffinity);
    }
    let mut reasons = Vec::new();
    if node.pod_capacity.is_some_and(|most| load.pods >= most) {
        reasons.push("Too many pods".to_owned());
    }
    let insufficient = node.allocatable.insufficient(&load.used, &pod.requests);
    reasons.extend(
        insufficient
            .iter()
            .map(|name| format!("Insufficient {name}")),
    );
    (!reasons.is_empty()).then_some(FilterFailure::Resources(reasons))
}

/// Whether a node has a taint that the Pod does not tolerate.
pub(super) fn has_untolerated_taint(pod: &PodRequirements, node: &NodeFacts) -> bool {
    let repels = |taint: &Taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute");
    let mut taints = node.taints.iter();
    taints.any(|taint| repels(taint) && !pod.tolerates(taint))
}

/// Whether a node matches the Pod's node selector and required node affinity.
pub(super) fn matches_node_affinity(pod: &PodRequirements, node: &NodeFacts) -> bool {
    let mut selector = pod.node_selector.iter();
    let affinity = pod.required_node_affinity();
    selector.all(|(key, value)| node.labels.get(key) == Some(value))
        && affinity.is_none_or(|affinity| affinity.matches(&node.name, &node.labels))
}

/// The taint of a cordoned node.
fn unschedulable_taint() -> Taint {
    Taint {
        key: "node.kubernetes.io/unschedulable".to_owned(),
        value: String::new(),
        effect: "NoSchedule".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::filter_failure::FilterFailure;
    use super::super::node_facts::NodeFacts;
    use super::super::pod_requirements::PodRequirements;
    use super::{NodeLoad, filter_node};

    fn filter(spec: Value, node: Value, pods: usize) -> Option<FilterFailure> {
        let pod = PodRequirements::read(&json!({"spec": spec})).unwrap();
        let load = NodeLoad {
            pods,
            ..NodeLoad::default()
        };
        filter_node(&pod, &NodeFacts::read(&node), &load)
    }

    fn insufficient(reasons: &[&str]) -> Option<FilterFailure> {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned());
        Some(FilterFailure::Resources(reasons.collect()))
    }

    fn pinned(node: &str) -> Value {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchFields": [field]}]}}})
    }

    #[test]
    fn pod_fits_on_a_node_that_meets_all_its_requirements() {
        let node = json!({"metadata": {"name": "n1", "labels": {"zone": "a"}}, "status": {"allocatable": {"pods": "2"}}});
        let taint = |effect: &str| json!({"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "k", "effect": effect}]}});
        let cordoned = json!({"metadata": {"name": "n1"}, "spec": {"unschedulable": true, "taints":
            [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}});
        let tolerating = json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]});
        for (wanted, spec, node, pods) in [
            (None, json!({}), &node, 1),
            (insufficient(&["Too many pods"]), json!({}), &node, 2),
            (
                insufficient(&["Too many pods", "Insufficient cpu"]),
                json!({"containers": [{"resources": {"requests": {"cpu": "1"}}}]}),
                &node,
                2,
            ),
            (None, json!({"nodeSelector": {"zone": "a"}}), &node, 0),
            (
                Some(FilterFailure::NodeAffinity),
                json!({"nodeSelector": {"zone": "b"}}),
                &node,
                0,
            ),
            (None, json!({"affinity": pinned("n1")}), &node, 0),
            (
                Some(FilterFailure::NodeName),
                json!({"affinity": pinned("n2")}),
                &node,
                0,
            ),
            (
                Some(FilterFailure::Taint),
                json!({}),
                &taint("NoSchedule"),
                0,
            ),
            (
                Some(FilterFailure::Taint),
                json!({}),
                &taint("NoExecute"),
                0,
            ),
            (None, json!({}), &taint("PreferNoSchedule"), 0),
            (Some(FilterFailure::Unschedulable), json!({}), &cordoned, 0),
            (None, tolerating, &cordoned, 0),
        ] {
            assert_eq!(
                filter(spec.clone(), node.clone(), pods),
                wanted,
                "{spec} {node}"
            );
        }
    }
}
