//! Rolls a change of the spec out to the Pods, a few nodes at a time.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;
use kubewright::webhook::Findings;

use crate::{MyDaemonSet, UpdateStrategy};

/// The Pods of a node that should run one: of a former spec, of the current spec, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodePods {
    pub(crate) node: String,
    pub(crate) old: Option<PodState>,
    pub(crate) new: Option<PodState>,
}

/// A Pod, and whether it has been ready for `minReadySeconds`.
#[derive(Clone, Debug)]
pub(crate) struct PodState {
    pub(crate) pod: Arc<Pod>,
    pub(crate) is_available: bool,
}

/// How many nodes may change at once, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// The old Pod is deleted before the new one is created, on at most this many nodes at once.
    MaxUnavailable(usize),
    /// The new Pod is created before the old one is deleted, on at most this many nodes at once.
    MaxSurge(usize),
}

/// The next steps of a roll-out.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The nodes on which a new Pod is created beside the old one.
    pub(crate) create_on: Vec<String>,
    /// The old Pods to delete.
    pub(crate) delete: Vec<Arc<Pod>>,
}

impl Strategy {
    /// Returns the strategy of a set of which `nodes` nodes should run a Pod.
    pub(crate) fn of(set: &MyDaemonSet, nodes: usize) -> Self {
        let strategy = &set.spec.update_strategy;
        match count(strategy.max_surge.as_ref(), nodes) {
            Some(surge @ 1..) => Self::MaxSurge(surge),
            _ => {
                let unavailable = count(strategy.max_unavailable.as_ref(), nodes);
                Self::MaxUnavailable(unavailable.unwrap_or(1).max(1))
            }
        }
    }

    /// Returns the next steps of a roll-out over these nodes.
    pub(crate) fn steps(self, nodes: &[NodePods]) -> Steps {
        match self {
            Self::MaxUnavailable(limit) => replace(nodes, limit),
            Self::MaxSurge(limit) => surge(nodes, limit),
        }
    }
}

/// Deletes old Pods that are not available at once, and the others within the limit.
fn replace(nodes: &[NodePods], limit: usize) -> Steps {
    let is_available = |pods: &&NodePods| match (&pods.old, &pods.new) {
        (Some(pod), None) | (None, Some(pod)) => pod.is_available,
        _ => false,
    };
    let unavailable_nodes = nodes.len() - nodes.iter().filter(is_available).count();
    let (available, unavailable): (Vec<_>, Vec<_>) = nodes
        .iter()
        .filter(|pods| pods.new.is_none())
        .filter_map(|pods| pods.old.as_ref())
        .partition(|old| old.is_available);
    let within_limit = available
        .into_iter()
        .take(limit.saturating_sub(unavailable_nodes));
    Steps {
        create_on: Vec::new(),
        delete: unavailable
            .into_iter()
            .chain(within_limit)
            .map(|old| Arc::clone(&old.pod))
            .collect(),
    }
}

/// Creates new Pods beside old ones within the limit, and deletes an old Pod once its new one is
/// available. Nodes whose old Pod is not available do not count.
fn surge(nodes: &[NodePods], limit: usize) -> Steps {
    let mut steps = Steps::default();
    let mut candidates = Vec::new();
    let mut surging = 0;
    for pods in nodes {
        match (&pods.old, &pods.new) {
            (None, _) => {}
            (Some(old), None) if old.is_available => candidates.push(pods.node.clone()),
            (Some(_), None) => steps.create_on.push(pods.node.clone()),
            (Some(old), Some(new)) if new.is_available || !old.is_available => {
                steps.delete.push(Arc::clone(&old.pod));
            }
            (Some(_), Some(_)) => surging += 1,
        }
    }
    candidates.truncate(limit.saturating_sub(surging));
    steps.create_on.extend(candidates);
    steps
}

/// The number of nodes for which a strategy is validated: of 100 nodes, no percentage but 0% is
/// rounded to zero.
const SAMPLE_NODES: usize = 100;

/// Validates a strategy: exactly one of the two limits is not zero.
pub(crate) fn check(strategy: &UpdateStrategy, findings: &mut Findings) {
    let fields = [
        ("maxUnavailable", &strategy.max_unavailable),
        ("maxSurge", &strategy.max_surge),
    ];
    for (name, limit) in fields {
        if limit.is_some() && count(limit.as_ref(), SAMPLE_NODES).is_none() {
            let reason = "must be a non-negative integer or a percentage such as 10%";
            findings.invalid(format!("spec.updateStrategy.{name}"), limit, reason);
        }
    }
    let [unavailable, surge] = fields.map(|(_, limit)| count(limit.as_ref(), SAMPLE_NODES));
    match (unavailable, surge) {
        (Some(1..), Some(1..)) => findings.invalid(
            "spec.updateStrategy.maxSurge",
            &strategy.max_surge,
            "must be 0 if maxUnavailable is not 0",
        ),
        (Some(0), None | Some(0)) => findings.invalid(
            "spec.updateStrategy.maxUnavailable",
            &strategy.max_unavailable,
            "must not be 0 if maxSurge is 0",
        ),
        _ => {}
    }
}

/// A limit as a number of nodes: a percentage is rounded up.
fn count(limit: Option<&IntOrString>, nodes: usize) -> Option<usize> {
    match limit? {
        IntOrString::Int(number) => usize::try_from(*number).ok(),
        IntOrString::String(text) => {
            let percent: usize = text.strip_suffix('%')?.parse().ok()?;
            Some((nodes * percent).div_ceil(100))
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
    use kubewright::prelude::*;
    use kubewright::webhook::Findings;
    use serde_json::json;

    use super::{NodePods, PodState, Strategy, check};
    use crate::{MyDaemonSet, MyDaemonSetSpec, UpdateStrategy};

    /// Nodes by two letters, for the old Pod and the new one: `A` is available, `u` is
    /// unavailable, `-` does not exist.
    fn nodes(states: &[&str]) -> Vec<NodePods> {
        let pod = |name: String, state: char| {
            let mut pod = Pod::default();
            pod.metadata.name = Some(name);
            (state != '-').then(|| PodState {
                pod: Arc::new(pod),
                is_available: state == 'A',
            })
        };
        let node = |(number, state): (usize, &&str)| {
            let mut states = state.chars();
            let mut next = |age: &str| pod(format!("{age}{number}"), states.next().unwrap());
            NodePods {
                node: number.to_string(),
                old: next("old"),
                new: next("new"),
            }
        };
        states.iter().enumerate().map(node).collect()
    }

    fn deleted(strategy: Strategy, states: &[&str]) -> Vec<String> {
        let pods = strategy.steps(&nodes(states)).delete;
        pods.iter().map(|pod| pod.name_any()).collect()
    }

    fn created_on(strategy: Strategy, states: &[&str]) -> Vec<String> {
        strategy.steps(&nodes(states)).create_on
    }

    #[test]
    fn available_old_pods_are_deleted_one_after_the_other() {
        let limit = Strategy::MaxUnavailable(1);
        assert_eq!(deleted(limit, &["A-", "A-"]), ["old0"]);
        assert_eq!(deleted(limit, &["-A", "A-"]), ["old1"]);
        assert!(
            deleted(limit, &["-u", "A-"]).is_empty(),
            "the new Pod is not available"
        );
        assert!(
            deleted(limit, &["--", "A-"]).is_empty(),
            "a node has no Pod"
        );
        let limit = Strategy::MaxUnavailable(2);
        assert_eq!(deleted(limit, &["-u", "A-", "A-"]), ["old1"]);
    }

    #[test]
    fn unavailable_old_pods_are_deleted_at_once_and_count_as_unavailable() {
        let limit = Strategy::MaxUnavailable(1);
        assert_eq!(deleted(limit, &["u-", "u-", "A-"]), ["old0", "old1"]);
    }

    #[test]
    fn with_surge_an_old_pod_is_deleted_once_the_new_one_is_available() {
        let limit = Strategy::MaxSurge(1);
        assert_eq!(created_on(limit, &["A-", "A-"]), ["0"]);
        assert!(deleted(limit, &["A-", "A-"]).is_empty());
        assert!(created_on(limit, &["Au", "A-"]).is_empty());
        assert!(deleted(limit, &["Au", "A-"]).is_empty());
        assert_eq!(deleted(limit, &["AA", "A-"]), ["old0"]);
        assert_eq!(created_on(limit, &["AA", "A-"]), ["1"]);
        assert_eq!(
            created_on(limit, &["u-", "A-"]),
            ["0", "1"],
            "a node without an available Pod does not count"
        );
    }

    #[test]
    fn one_node_changes_at_a_time_by_default() {
        let strategy = |unavailable: Option<IntOrString>, surge: Option<IntOrString>| {
            let mut set = MyDaemonSet::new("web", MyDaemonSetSpec::default());
            set.spec.update_strategy.max_unavailable = unavailable;
            set.spec.update_strategy.max_surge = surge;
            Strategy::of(&set, 10)
        };
        let number = |number| Some(IntOrString::Int(number));
        let percent = |text: &str| Some(IntOrString::String(text.to_owned()));
        assert_eq!(strategy(None, None), Strategy::MaxUnavailable(1));
        assert_eq!(strategy(number(0), number(0)), Strategy::MaxUnavailable(1));
        assert_eq!(strategy(percent("25%"), None), Strategy::MaxUnavailable(3));
        assert_eq!(strategy(number(3), number(2)), Strategy::MaxSurge(2));
        assert_eq!(strategy(None, percent("1%")), Strategy::MaxSurge(1));
    }

    /// The paths of the invalid fields of a strategy.
    fn invalid_fields(strategy: serde_json::Value) -> Vec<String> {
        let strategy: UpdateStrategy = serde_json::from_value(strategy).unwrap();
        let mut findings = Findings::default();
        check(&strategy, &mut findings);
        let path = |fault: &String| fault.split(':').next().map(str::to_owned);
        findings.errors().iter().filter_map(path).collect()
    }

    #[test]
    fn exactly_one_of_max_surge_and_max_unavailable_must_not_be_zero() {
        let surge = ["spec.updateStrategy.maxSurge"];
        let unavailable = ["spec.updateStrategy.maxUnavailable"];
        for valid in [
            json!({}),
            json!({"maxSurge": 0}),
            json!({"maxSurge": "10%"}),
            json!({"maxUnavailable": 3}),
            json!({"maxUnavailable": 0, "maxSurge": 1}),
            json!({"maxUnavailable": "25%", "maxSurge": "0%"}),
        ] {
            assert_eq!(invalid_fields(valid.clone()), [""; 0], "{valid}");
        }
        assert_eq!(
            invalid_fields(json!({"maxUnavailable": 1, "maxSurge": 1})),
            surge
        );
        assert_eq!(invalid_fields(json!({"maxUnavailable": 0})), unavailable);
        let none = json!({"maxUnavailable": "0%", "maxSurge": 0});
        assert_eq!(invalid_fields(none), unavailable);
        assert_eq!(invalid_fields(json!({"maxSurge": "many"})), surge);
        assert_eq!(invalid_fields(json!({"maxUnavailable": -1})), unavailable);
    }
}
