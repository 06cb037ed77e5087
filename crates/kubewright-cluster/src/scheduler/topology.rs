//! Filters nodes by where other Pods are: Pod affinity, anti-affinity and topology spread.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::{has_untolerated_taint, matches_node_affinity};
use super::filter_failure::FilterFailure;
use super::labels::NamespaceLabels;
use super::node_facts::NodeFacts;
use super::placed_pod::PlacedPod;
use super::pod_requirements::PodRequirements;
use super::pod_term::PodTerm;
use super::topology_spread::{InclusionPolicy, SpreadConstraint};

/// A label of nodes and its value: all nodes with it are one domain.
type Domain = (String, String);

/// What the placed Pods mean for a Pod without a node: counted once, and used for each node
/// (`PreFilter` of the plugins podtopologyspread and interpodaffinity in
/// pkg/scheduler/framework/plugins).
#[derive(Debug)]
pub(super) struct PodTopology<'a> {
    pod: &'a PodRequirements,
    /// For each spread constraint, the number of its Pods in each domain.
    spread_counts: Vec<(&'a SpreadConstraint, BTreeMap<String, i64>)>,
    /// Domains with Pods that all terms of the Pod's affinity select.
    affinity_domains: BTreeSet<Domain>,
    /// Whether the Pod's affinity selects the Pod itself.
    selects_itself: bool,
    /// Domains with Pods that the Pod's anti-affinity selects.
    anti_affinity_domains: BTreeSet<Domain>,
    /// Domains with Pods whose anti-affinity selects the Pod.
    existing_anti_affinity_domains: BTreeSet<Domain>,
}

/// The nodes and namespaces of the cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterState<'a> {
    pub(super) nodes: &'a BTreeMap<String, NodeFacts>,
    pub(super) namespaces: &'a NamespaceLabels,
}

impl<'a> PodTopology<'a> {
    /// Counts the placed Pods. For a Pod that does not depend on other Pods, those with an
    /// anti-affinity are enough.
    pub(super) fn new<'p>(
        pod: &'a PodRequirements,
        placed: impl Iterator<Item = &'p PlacedPod>,
        state: ClusterState<'_>,
    ) -> Self {
        let ClusterState { nodes, namespaces } = state;
        let selects_pod = |term: &PodTerm| term.selects(&pod.namespace, &pod.labels, namespaces);
        let mut topology = Self {
            pod,
            spread_counts: pod
                .spread_constraints
                .iter()
                .map(|constraint| (constraint, empty_domains(pod, constraint, nodes)))
                .collect(),
            affinity_domains: BTreeSet::new(),
            selects_itself: pod.pod_affinity.iter().all(selects_pod),
            anti_affinity_domains: BTreeSet::new(),
            existing_anti_affinity_domains: BTreeSet::new(),
        };
        for other in placed {
            let Some(node) = nodes.get(&other.node) else {
                continue;
            };
            topology.count_spread(other, node);
            let selects_other =
                |term: &&PodTerm| term.selects(&other.namespace, &other.labels, namespaces);
            let affinity = &pod.pod_affinity;
            if !affinity.is_empty() && affinity.iter().all(|term| selects_other(&term)) {
                topology.affinity_domains.extend(domains(affinity, node));
            }
            let excluded = pod.pod_anti_affinity.iter().filter(selects_other);
            topology
                .anti_affinity_domains
                .extend(domains(excluded, node));
            let excluding = other.anti_affinity.iter().filter(|term| selects_pod(term));
            topology
                .existing_anti_affinity_domains
                .extend(domains(excluding, node));
        }
        topology
    }

    fn count_spread(&mut self, other: &PlacedPod, node: &NodeFacts) {
        if other.is_terminating || other.namespace != self.pod.namespace {
            return;
        }
        for (constraint, counts) in &mut self.spread_counts {
            if !constraint.selects(&other.labels) || !is_counted(self.pod, constraint, node) {
                continue;
            }
            let domain = node.labels.get(&constraint.topology_key);
            if let Some(count) = domain.and_then(|domain| counts.get_mut(domain)) {
                *count += 1;
            }
        }
    }

    /// Why the Pod does not fit on a node because of other Pods; `None` when it fits.
    pub(super) fn filter_node(&self, node: &NodeFacts) -> Option<FilterFailure> {
        for (constraint, counts) in &self.spread_counts {
            let Some(domain) = node.labels.get(&constraint.topology_key) else {
                return Some(FilterFailure::TopologyLabel);
            };
            if !constraint.allows(&self.pod.labels, domain, counts) {
                return Some(FilterFailure::TopologySpread);
            }
        }
        if !self.satisfies_affinity(node) {
            return Some(FilterFailure::PodAffinity);
        }
        let is_in = |domains: &BTreeSet<Domain>| {
            let mut domains = domains.iter();
            domains.any(|(key, value)| node.labels.get(key) == Some(value))
        };
        if is_in(&self.anti_affinity_domains) {
            return Some(FilterFailure::PodAntiAffinity);
        }
        is_in(&self.existing_anti_affinity_domains).then_some(FilterFailure::ExistingAntiAffinity)
    }

    /// Whether a node satisfies the Pod's affinity. The first of Pods that select each other fits
    /// everywhere, because no other Pod could ever come first.
    fn satisfies_affinity(&self, node: &NodeFacts) -> bool {
        let affinity = &self.pod.pod_affinity;
        let has_labels = affinity
            .iter()
            .all(|term| node.labels.contains_key(&term.topology_key));
        let is_first = self.affinity_domains.is_empty() && self.selects_itself;
        let mut own_domains = domains(affinity, node);
        has_labels
            && (is_first || own_domains.all(|domain| self.affinity_domains.contains(&domain)))
    }
}

/// The domains of a node for the topology keys of terms.
fn domains<'t>(
    terms: impl IntoIterator<Item = &'t PodTerm>,
    node: &NodeFacts,
) -> impl Iterator<Item = Domain> {
    terms.into_iter().filter_map(|term| {
        let value = node.labels.get(&term.topology_key)?;
        Some((term.topology_key.clone(), value.clone()))
    })
}

/// The domains of a constraint, each with no Pods.
fn empty_domains(
    pod: &PodRequirements,
    constraint: &SpreadConstraint,
    nodes: &BTreeMap<String, NodeFacts>,
) -> BTreeMap<String, i64> {
    nodes
        .values()
        .filter(|node| is_counted(pod, constraint, node))
        .filter_map(|node| node.labels.get(&constraint.topology_key))
        .map(|domain| (domain.clone(), 0))
        .collect()
}

/// Whether a node counts for a constraint: it has the labels of all constraints, and no policy
/// excludes it.
fn is_counted(pod: &PodRequirements, constraint: &SpreadConstraint, node: &NodeFacts) -> bool {
    let mut constraints = pod.spread_constraints.iter();
    constraints.all(|other| node.labels.contains_key(&other.topology_key))
        && (constraint.node_affinity_policy == InclusionPolicy::Ignore
            || matches_node_affinity(pod, node))
        && (constraint.node_taints_policy == InclusionPolicy::Ignore
            || !has_untolerated_taint(pod, node))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::super::filter_failure::FilterFailure;
    use super::super::node_facts::NodeFacts;
    use super::super::placed_pod::PlacedPod;
    use super::super::pod_requirements::PodRequirements;
    use super::{ClusterState, PodTopology};

    /// Two zones: `a` with `a1` and `a2`, `b` with `b1`.
    fn nodes() -> BTreeMap<String, NodeFacts> {
        ["a1", "a2", "b1"]
            .map(|name| {
                let zone: String = name.chars().take(1).collect();
                let labels = json!({"zone": zone, "host": name});
                let node = json!({"metadata": {"name": name, "labels": labels}});
                (name.to_owned(), NodeFacts::read(&node))
            })
            .into()
    }

    fn pod(labels: Value, spec: Value) -> Value {
        json!({"metadata": {"namespace": "ns", "labels": labels}, "spec": spec})
    }

    fn placed(node: &str, namespace: &str, labels: Value, affinity: Value) -> Value {
        json!({"metadata": {"namespace": namespace, "labels": labels},
            "spec": {"nodeName": node, "affinity": affinity}})
    }

    /// The failure of each node.
    fn failures(pod: &Value, placed: &[Value]) -> [Option<FilterFailure>; 3] {
        let pod = PodRequirements::read(pod).unwrap();
        let placed_pods: Vec<_> = placed.iter().filter_map(PlacedPod::read).collect();
        let teams = BTreeMap::from([("team".to_owned(), "x".to_owned())]);
        let namespaces = BTreeMap::from([
            ("ns".to_owned(), BTreeMap::new()),
            ("other".to_owned(), teams),
        ]);
        let nodes = nodes();
        let state = ClusterState {
            nodes: &nodes,
            namespaces: &namespaces,
        };
        let topology = PodTopology::new(&pod, placed_pods.iter(), state);
        ["a1", "a2", "b1"].map(|node| topology.filter_node(&nodes[node]))
    }

    fn affinity(kind: &str, term: Value) -> Value {
        let list = "requiredDuringSchedulingIgnoredDuringExecution";
        json!({kind: {list: [term]}})
    }

    fn app(name: &str) -> Value {
        json!({"matchLabels": {"app": name}})
    }

    #[test]
    fn anti_affinity_excludes_domains_in_both_directions() {
        let term = json!({"topologyKey": "host", "labelSelector": app("web")});
        let anti = affinity("podAntiAffinity", term);
        let web = pod(json!({"app": "web"}), json!({"affinity": anti}));
        let plain = placed("a1", "ns", json!({"app": "web"}), Value::Null);
        assert_eq!(
            failures(&web, std::slice::from_ref(&plain)),
            [Some(FilterFailure::PodAntiAffinity), None, None]
        );
        let repelling = placed("b1", "ns", json!({}), anti);
        let plain_web = pod(json!({"app": "web"}), json!({}));
        assert_eq!(
            failures(&plain_web, &[plain, repelling]),
            [None, None, Some(FilterFailure::ExistingAntiAffinity)]
        );
        let elsewhere = placed("a1", "other", json!({"app": "web"}), Value::Null);
        assert_eq!(failures(&web, &[elsewhere]), [None, None, None]);
    }

    #[test]
    fn anti_affinity_names_or_selects_namespaces() {
        let elsewhere = placed("a1", "other", json!({"app": "web"}), Value::Null);
        for namespaces in [
            json!({"namespaces": ["other"]}),
            json!({"namespaceSelector": {"matchLabels": {"team": "x"}}}),
            json!({"namespaceSelector": {}}),
        ] {
            let mut term = json!({"topologyKey": "zone", "labelSelector": app("web")});
            term.as_object_mut()
                .unwrap()
                .extend(namespaces.as_object().unwrap().clone());
            let anti = affinity("podAntiAffinity", term);
            let web = pod(json!({"app": "web"}), json!({"affinity": anti}));
            let excluded = Some(FilterFailure::PodAntiAffinity);
            let found = failures(&web, std::slice::from_ref(&elsewhere));
            assert_eq!(found, [excluded.clone(), excluded, None], "{namespaces}");
        }
    }

    #[test]
    fn affinity_requires_a_domain_with_a_selected_pod() {
        let term = json!({"topologyKey": "zone", "labelSelector": app("db")});
        let near = json!({"affinity": affinity("podAffinity", term)});
        let web = pod(json!({"app": "web"}), near.clone());
        let unmet = Some(FilterFailure::PodAffinity);
        assert_eq!(
            failures(&web, &[]),
            [unmet.clone(), unmet.clone(), unmet.clone()]
        );
        let db = placed("a2", "ns", json!({"app": "db"}), Value::Null);
        assert_eq!(failures(&web, &[db]), [None, None, unmet]);
        // A Pod that its own affinity selects fits everywhere while it is the first.
        let first = pod(json!({"app": "db"}), near);
        assert_eq!(failures(&first, &[]), [None, None, None]);
    }

    #[test]
    fn topology_spread_limits_the_skew_of_domains() {
        let spread = |more: Value| {
            let mut constraint = json!({"maxSkew": 1, "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": app("web")});
            constraint
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            pod(
                json!({"app": "web"}),
                json!({"topologySpreadConstraints": [constraint]}),
            )
        };
        let web = |node: &str| placed(node, "ns", json!({"app": "web"}), Value::Null);
        let full = Some(FilterFailure::TopologySpread);
        let found = failures(&spread(json!({})), &[web("a1")]);
        assert_eq!(found, [full.clone(), full.clone(), None]);
        let found = failures(&spread(json!({})), &[web("a1"), web("b1")]);
        assert_eq!(found, [None, None, None]);
        let found = failures(&spread(json!({"maxSkew": 2})), &[web("a1")]);
        assert_eq!(found, [None, None, None]);
        let found = failures(&spread(json!({"minDomains": 3})), &[web("a1"), web("b1")]);
        assert_eq!(found, [full.clone(), full.clone(), full]);
        let soft = spread(json!({"whenUnsatisfiable": "ScheduleAnyway"}));
        assert_eq!(failures(&soft, &[web("a1")]), [None, None, None]);
        let missing = spread(json!({"topologyKey": "rack"}));
        let label = Some(FilterFailure::TopologyLabel);
        assert_eq!(
            failures(&missing, &[]),
            [label.clone(), label.clone(), label]
        );
    }
}
