//! Why nodes are filtered out, and the message of a Pod that no node fits.

use std::collections::BTreeMap;

/// Why a Pod does not fit on a node, in the order of the scheduler's filters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilterFailure {
    /// The Pod's node affinity names other nodes.
    NodeName,
    Unschedulable,
    Taint,
    NodeAffinity,
    /// Too little of some resources, with the scheduler's text for each.
    Resources(Vec<String>),
    /// The node's domain has too many of the Pods that are spread.
    TopologySpread,
    /// The node lacks the label of a topology spread constraint.
    TopologyLabel,
    /// The domain has no Pod of the required Pod affinity.
    PodAffinity,
    /// The domain has a Pod of the required anti-affinity.
    PodAntiAffinity,
    /// The domain has a Pod whose anti-affinity excludes this Pod.
    ExistingAntiAffinity,
}

impl FilterFailure {
    fn reasons(&self) -> Vec<&str> {
        match self {
            Self::NodeName => vec!["node(s) didn't satisfy plugin(s) [NodeAffinity]"],
            Self::Unschedulable => vec!["node(s) were unschedulable"],
            Self::Taint => vec!["node(s) had untolerated taint(s)"],
            Self::NodeAffinity => vec!["node(s) didn't match Pod's node affinity/selector"],
            Self::Resources(reasons) => reasons.iter().map(String::as_str).collect(),
            Self::TopologySpread => vec!["node(s) didn't match pod topology spread constraints"],
            Self::TopologyLabel => vec![
                "node(s) didn't match pod topology spread constraints (missing required label)",
            ],
            Self::PodAffinity => vec!["node(s) didn't match pod affinity rules"],
            Self::PodAntiAffinity => vec!["node(s) didn't match pod anti-affinity rules"],
            Self::ExistingAntiAffinity => {
                vec!["node(s) didn't satisfy existing pods anti-affinity rules"]
            }
        }
    }

    /// The result of preemption on the node. No Pod is ever preempted here.
    fn preemption(&self) -> &'static str {
        match self {
            Self::Resources(_)
            | Self::TopologySpread
            | Self::PodAntiAffinity
            | Self::ExistingAntiAffinity => "No preemption victims found for incoming pod",
            _ => "Preemption is not helpful for scheduling",
        }
    }
}

/// The message of the condition of a Pod that no node fits (`FitError` of
/// pkg/scheduler/framework).
pub(super) fn unschedulable_message(failures: &[FilterFailure]) -> String {
    if failures.is_empty() {
        return "no nodes available to schedule pods".to_owned();
    }
    let nodes = failures.len();
    let reasons = histogram(failures.iter().flat_map(FilterFailure::reasons));
    let preemption = histogram(failures.iter().map(FilterFailure::preemption));
    format!(
        "0/{nodes} nodes are available: {reasons}. no new claims to deallocate, \
         preemption: 0/{nodes} nodes are available: {preemption}."
    )
}

/// Each reason with its count, sorted as text: `1 reason, 2 other reason`.
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

#[cfg(test)]
mod tests {
    use super::{FilterFailure, unschedulable_message};

    #[test]
    fn message_equals_that_of_kube_scheduler() {
        assert_eq!(
            unschedulable_message(&[]),
            "no nodes available to schedule pods"
        );
        assert_eq!(
            unschedulable_message(&[
                FilterFailure::Unschedulable,
                FilterFailure::NodeAffinity,
                FilterFailure::Taint
            ]),
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
        assert_eq!(
            unschedulable_message(&[
                FilterFailure::NodeName,
                FilterFailure::Taint,
                FilterFailure::NodeName
            ]),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
        );
    }
}
