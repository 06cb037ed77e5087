use std::collections::BTreeMap;

use super::amounts::Amounts;
use super::node_facts::{NodeFacts, Taint};
use super::pod_needs::PodNeeds;

/// Why a Pod does not go to a node, in the order in which the scheduler asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Misfit {
    /// The Pod names the nodes it may go to, and this is none of them.
    NotNamed,
    Unschedulable,
    Taint,
    Affinity,
    /// There is too little of something; of what, as the scheduler says it.
    Room(Vec<String>),
    /// Too many Pods of those that are spread are near already.
    Spread,
    /// The node has no label that says where it is.
    SpreadLabel,
    /// None of the Pods that it must be near to is near.
    PodAffinity,
    /// One of the Pods that it must not be near to is near.
    PodAntiAffinity,
    /// One that does not want it near is near.
    ExistingAntiAffinity,
}

impl Misfit {
    fn reasons(&self) -> Vec<&str> {
        match self {
            Self::NotNamed => vec!["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
            Self::Unschedulable => vec!["node(s) were unschedulable"],
            Self::Taint => vec!["node(s) had untolerated taint(s)"],
            Self::Affinity => vec!["node(s) didn't match Pod's node affinity/selector"],
            Self::Room(lacking) => lacking.iter().map(String::as_str).collect(),
            Self::Spread => vec!["node(s) didn't match pod topology spread constraints"],
            Self::SpreadLabel => vec![
                "node(s) didn't match pod topology spread constraints (missing required label)",
            ],
            Self::PodAffinity => vec!["node(s) didn't match pod affinity rules"],
            Self::PodAntiAffinity => vec!["node(s) didn't match pod anti-affinity rules"],
            Self::ExistingAntiAffinity => {
                vec!["node(s) didn't satisfy existing pods anti-affinity rules"]
            }
        }
    }

    /// What the scheduler finds when it looks for Pods that could make room.
    fn preemption(&self) -> &'static str {
        match self {
            Self::Room(_) | Self::Spread | Self::PodAntiAffinity | Self::ExistingAntiAffinity => {
                "No preemption victims found for incoming pod"
            }
            _ => "Preemption is not helpful for scheduling",
        }
    }
}

/// What the Pods of a node take up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) pods: usize,
    pub(super) used: Amounts,
}

/// Why the Pod does not fit on a node with this load; none when it fits.
pub(super) fn misfit(pod: &PodNeeds, node: &NodeFacts, load: &Load) -> Option<Misfit> {
    let affinity = pod.required_affinity();
    let names = affinity.and_then(|affinity| affinity.names());
    if names.is_some_and(|names| !names.contains(node.name.as_str())) {
        return Some(Misfit::NotNamed);
    }
    if node.is_unschedulable && !pod.tolerates(&cordon()) {
        return Some(Misfit::Unschedulable);
    }
    if is_repelled_by_taints(pod, node) {
        return Some(Misfit::Taint);
    }
    if !is_admitted_by_affinity(pod, node) {
        return Some(Misfit::Affinity);
    }
    let mut lacking = Vec::new();
    if node.pod_capacity.is_some_and(|most| load.pods >= most) {
        lacking.push("Too many pods".to_owned());
    }
    let short = node.room.lacking(&load.used, &pod.requests);
    lacking.extend(short.iter().map(|name| format!("Insufficient {name}")));
    (!lacking.is_empty()).then_some(Misfit::Room(lacking))
}

/// Whether a node has a taint that the Pod does not tolerate.
pub(super) fn is_repelled_by_taints(pod: &PodNeeds, node: &NodeFacts) -> bool {
    let repels = |taint: &Taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute");
    let mut taints = node.taints.iter();
    taints.any(|taint| repels(taint) && !pod.tolerates(taint))
}

/// Whether a node is one of those that the Pod selects.
pub(super) fn is_admitted_by_affinity(pod: &PodNeeds, node: &NodeFacts) -> bool {
    let mut wanted = pod.node_selector.iter();
    let affinity = pod.required_affinity();
    wanted.all(|(key, value)| node.labels.get(key) == Some(value))
        && affinity.is_none_or(|terms| terms.matches(&node.name, &node.labels))
}

/// What the Pod's condition says when no node fits.
pub(super) fn explain(misfits: &[Misfit]) -> String {
    if misfits.is_empty() {
        return "no nodes available to schedule pods".to_owned();
    }
    let nodes = misfits.len();
    let reasons = histogram(misfits.iter().flat_map(Misfit::reasons));
    let preemption = histogram(misfits.iter().map(Misfit::preemption));
    format!(
        "0/{nodes} nodes are available: {reasons}. no new claims to deallocate, \
         preemption: 0/{nodes} nodes are available: {preemption}."
    )
}

/// `2 this, 1 that`, sorted as text.
fn histogram<'a>(reasons: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let mut parts: Vec<_> = counts
        .into_iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    parts.sort();
    parts.join(", ")
}

fn cordon() -> Taint {
    Taint {
        key: "node.kubernetes.io/unschedulable".to_owned(),
        value: String::new(),
        effect: "NoSchedule".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Load, Misfit, explain, misfit};
    use crate::scheduler::node_facts::NodeFacts;
    use crate::scheduler::pod_needs::PodNeeds;

    fn judge(spec: Value, node: Value, pods: usize) -> Option<Misfit> {
        let pod = PodNeeds::read(&json!({"spec": spec})).unwrap();
        let load = Load {
            pods,
            ..Load::default()
        };
        misfit(&pod, &NodeFacts::read(&node), &load)
    }

    fn lacking(what: &[&str]) -> Option<Misfit> {
        Some(Misfit::Room(
            what.iter().map(|one| (*one).to_owned()).collect(),
        ))
    }

    fn pinned(node: &str) -> Value {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [node]});
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchFields": [field]}]}}})
    }

    #[test]
    fn a_pod_fits_where_nothing_speaks_against_it() {
        let node = json!({"metadata": {"name": "n1", "labels": {"zone": "a"}}, "status": {"allocatable": {"pods": "2"}}});
        let taint = |effect: &str| json!({"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "k", "effect": effect}]}});
        let cordoned = json!({"metadata": {"name": "n1"}, "spec": {"unschedulable": true, "taints":
            [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}});
        let tolerant = json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]});
        for (wanted, spec, node, pods) in [
            (None, json!({}), &node, 1),
            (lacking(&["Too many pods"]), json!({}), &node, 2),
            (
                lacking(&["Too many pods", "Insufficient cpu"]),
                json!({"containers": [{"resources": {"requests": {"cpu": "1"}}}]}),
                &node,
                2,
            ),
            (None, json!({"nodeSelector": {"zone": "a"}}), &node, 0),
            (
                Some(Misfit::Affinity),
                json!({"nodeSelector": {"zone": "b"}}),
                &node,
                0,
            ),
            (None, json!({"affinity": pinned("n1")}), &node, 0),
            (
                Some(Misfit::NotNamed),
                json!({"affinity": pinned("n2")}),
                &node,
                0,
            ),
            (Some(Misfit::Taint), json!({}), &taint("NoSchedule"), 0),
            (Some(Misfit::Taint), json!({}), &taint("NoExecute"), 0),
            (None, json!({}), &taint("PreferNoSchedule"), 0),
            (Some(Misfit::Unschedulable), json!({}), &cordoned, 0),
            (None, tolerant, &cordoned, 0),
        ] {
            assert_eq!(
                judge(spec.clone(), node.clone(), pods),
                wanted,
                "{spec} {node}"
            );
        }
    }

    #[test]
    fn the_message_is_that_of_the_real_scheduler() {
        assert_eq!(explain(&[]), "no nodes available to schedule pods");
        assert_eq!(
            explain(&[Misfit::Unschedulable, Misfit::Affinity, Misfit::Taint]),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
        assert_eq!(
            explain(&[Misfit::NotNamed, Misfit::Taint, Misfit::NotNamed]),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
    }
}
