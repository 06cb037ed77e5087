use std::collections::{BTreeMap, BTreeSet};

use super::fit::{Misfit, is_admitted_by_affinity, is_repelled_by_taints};
use super::neighbour::{Namespaces, Neighbour};
use super::node_facts::NodeFacts;
use super::pod_needs::PodNeeds;
use super::pod_term::PodTerm;
use super::spread::{Policy, Spread};

/// A label of nodes and its value: the place that all nodes with it share.
type Place = (String, String);

/// What the Pods that are placed already mean for one that is not: counted once, asked for each
/// node (`PreFilter` of the plugins podtopologyspread and interpodaffinity in
/// pkg/scheduler/framework/plugins).
#[derive(Debug, Default)]
pub(super) struct Surroundings<'a> {
    /// How many Pods of those that are spread each domain has.
    spreads: Vec<(&'a Spread, BTreeMap<String, i64>)>,
    /// Where Pods are that the Pod must be near to, all terms taken together.
    attracting: BTreeSet<Place>,
    /// Whether the Pod is one of those that it must be near to.
    attracts_itself: bool,
    /// Where Pods are that it must not be near to.
    repelling: BTreeSet<Place>,
    /// Where Pods are that do not want it near.
    refusing: BTreeSet<Place>,
}

/// What is placed, where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a, I> {
    pub(super) pods: I,
    pub(super) nodes: &'a BTreeMap<String, NodeFacts>,
    pub(super) namespaces: &'a Namespaces,
}

impl<'a> Surroundings<'a> {
    /// What `placed` means for `pod`. For one that asks for nothing, only those that repel others
    /// need be there.
    pub(super) fn of<'p>(
        pod: &'a PodNeeds,
        placed: Placed<'_, impl Iterator<Item = &'p Neighbour>>,
    ) -> Self {
        let Placed {
            pods,
            nodes,
            namespaces,
        } = placed;
        let selects =
            |term: &PodTerm, one: &Neighbour| term.selects(&one.namespace, &one.labels, namespaces);
        let is_own = |term: &PodTerm| term.selects(&pod.namespace, &pod.labels, namespaces);
        let mut around = Self {
            spreads: pod
                .spreads
                .iter()
                .map(|spread| (spread, domains(pod, spread, nodes)))
                .collect(),
            attracts_itself: pod.attracted.iter().all(is_own),
            ..Self::default()
        };
        for one in pods {
            let Some(node) = nodes.get(&one.node) else {
                continue;
            };
            around.count(pod, one, node);
            let is_attracting =
                !pod.attracted.is_empty() && pod.attracted.iter().all(|term| selects(term, one));
            if is_attracting {
                around.attracting.extend(places(&pod.attracted, node));
            }
            let repelling = pod.repelled.iter().filter(|term| selects(term, one));
            around.repelling.extend(places(repelling, node));
            let refusing = one.repels.iter().filter(|term| is_own(term));
            around.refusing.extend(places(refusing, node));
        }
        around
    }

    fn count(&mut self, pod: &PodNeeds, one: &Neighbour, node: &NodeFacts) {
        if one.is_leaving || one.namespace != pod.namespace {
            return;
        }
        for (spread, counts) in &mut self.spreads {
            let domain = node.labels.get(&spread.topology_key);
            let is_counted = spread.selects(&one.labels) && counts_node(pod, spread, node);
            if let Some(count) = domain
                .filter(|_| is_counted)
                .and_then(|domain| counts.get_mut(domain))
            {
                *count += 1;
            }
        }
    }

    /// Why the Pod does not go to a node because of the Pods around; none when nothing speaks
    /// against it.
    pub(super) fn misfit(&self, pod: &PodNeeds, node: &NodeFacts) -> Option<Misfit> {
        for (spread, counts) in &self.spreads {
            let Some(domain) = node.labels.get(&spread.topology_key) else {
                return Some(Misfit::SpreadLabel);
            };
            if !spread.allows(&pod.labels, domain, counts) {
                return Some(Misfit::Spread);
            }
        }
        if !self.attracts(pod, node) {
            return Some(Misfit::PodAffinity);
        }
        let is_in = |places: &BTreeSet<Place>| {
            let mut places = places.iter();
            places.any(|(key, value)| node.labels.get(key) == Some(value))
        };
        if is_in(&self.repelling) {
            return Some(Misfit::PodAntiAffinity);
        }
        is_in(&self.refusing).then_some(Misfit::ExistingAntiAffinity)
    }

    /// The first of Pods that must be together has nobody to be near to: it may go anywhere.
    fn attracts(&self, pod: &PodNeeds, node: &NodeFacts) -> bool {
        let has_labels = pod
            .attracted
            .iter()
            .all(|term| node.labels.contains_key(&term.topology_key));
        let is_first = self.attracting.is_empty() && self.attracts_itself;
        let mut here = places(&pod.attracted, node);
        has_labels && (is_first || here.all(|place| self.attracting.contains(&place)))
    }
}

/// The places of a node that terms speak of.
fn places<'t>(
    terms: impl IntoIterator<Item = &'t PodTerm>,
    node: &NodeFacts,
) -> impl Iterator<Item = Place> {
    terms.into_iter().filter_map(|term| {
        let value = node.labels.get(&term.topology_key)?;
        Some((term.topology_key.clone(), value.clone()))
    })
}

/// The domains that count, all empty.
fn domains(
    pod: &PodNeeds,
    spread: &Spread,
    nodes: &BTreeMap<String, NodeFacts>,
) -> BTreeMap<String, i64> {
    nodes
        .values()
        .filter(|node| counts_node(pod, spread, node))
        .filter_map(|node| node.labels.get(&spread.topology_key))
        .map(|domain| (domain.clone(), 0))
        .collect()
}

/// Whether a node counts for how a Pod is spread: one that lacks a label of any constraint does
/// not, nor one that a policy leaves out.
fn counts_node(pod: &PodNeeds, spread: &Spread, node: &NodeFacts) -> bool {
    let mut keys = pod.spreads.iter().map(|one| &one.topology_key);
    keys.all(|key| node.labels.contains_key(key))
        && (spread.affinity == Policy::Ignore || is_admitted_by_affinity(pod, node))
        && (spread.taints == Policy::Ignore || !is_repelled_by_taints(pod, node))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::super::fit::Misfit;
    use super::super::neighbour::Neighbour;
    use super::super::node_facts::NodeFacts;
    use super::super::pod_needs::PodNeeds;
    use super::{Placed, Surroundings};

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

    /// What speaks against each of the nodes.
    fn misfits(pod: &Value, placed: &[Value]) -> [Option<Misfit>; 3] {
        let pod = PodNeeds::read(pod).unwrap();
        let placed: Vec<_> = placed.iter().filter_map(Neighbour::read).collect();
        let teams = BTreeMap::from([("team".to_owned(), "x".to_owned())]);
        let namespaces = BTreeMap::from([
            ("ns".to_owned(), BTreeMap::new()),
            ("other".to_owned(), teams),
        ]);
        let nodes = nodes();
        let around = Surroundings::of(
            &pod,
            Placed {
                pods: placed.iter(),
                nodes: &nodes,
                namespaces: &namespaces,
            },
        );
        ["a1", "a2", "b1"].map(|node| around.misfit(&pod, &nodes[node]))
    }

    fn affinity(kind: &str, term: Value) -> Value {
        let list = "requiredDuringSchedulingIgnoredDuringExecution";
        json!({kind: {list: [term]}})
    }

    fn app(name: &str) -> Value {
        json!({"matchLabels": {"app": name}})
    }

    #[test]
    fn a_pod_keeps_away_from_those_it_repels_and_those_that_repel_it() {
        let term = json!({"topologyKey": "host", "labelSelector": app("web")});
        let anti = affinity("podAntiAffinity", term);
        let web = pod(json!({"app": "web"}), json!({"affinity": anti}));
        let plain = placed("a1", "ns", json!({"app": "web"}), Value::Null);
        assert_eq!(
            misfits(&web, std::slice::from_ref(&plain)),
            [Some(Misfit::PodAntiAffinity), None, None]
        );
        let repelling = placed("b1", "ns", json!({}), anti);
        let quiet = pod(json!({"app": "web"}), json!({}));
        assert_eq!(
            misfits(&quiet, &[plain, repelling]),
            [None, None, Some(Misfit::ExistingAntiAffinity)]
        );
        let elsewhere = placed("a1", "other", json!({"app": "web"}), Value::Null);
        assert_eq!(misfits(&web, &[elsewhere]), [None, None, None]);
    }

    #[test]
    fn namespaces_are_named_or_selected() {
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
            let zone = Some(Misfit::PodAntiAffinity);
            let found = misfits(&web, std::slice::from_ref(&elsewhere));
            assert_eq!(found, [zone.clone(), zone, None], "{namespaces}");
        }
    }

    #[test]
    fn a_pod_goes_where_those_are_that_it_must_be_near_to() {
        let term = json!({"topologyKey": "zone", "labelSelector": app("db")});
        let near = json!({"affinity": affinity("podAffinity", term)});
        let web = pod(json!({"app": "web"}), near.clone());
        let none = Some(Misfit::PodAffinity);
        assert_eq!(
            misfits(&web, &[]),
            [none.clone(), none.clone(), none.clone()]
        );
        let db = placed("a2", "ns", json!({"app": "db"}), Value::Null);
        assert_eq!(misfits(&web, &[db]), [None, None, none]);
        // The first of its own kind goes anywhere.
        let first = pod(json!({"app": "db"}), near);
        assert_eq!(misfits(&first, &[]), [None, None, None]);
    }

    #[test]
    fn pods_are_spread_over_domains() {
        let spread = |more: Value| {
            let mut one = json!({"maxSkew": 1, "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": app("web")});
            one.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            pod(
                json!({"app": "web"}),
                json!({"topologySpreadConstraints": [one]}),
            )
        };
        let web = |node: &str| placed(node, "ns", json!({"app": "web"}), Value::Null);
        let full = Some(Misfit::Spread);
        let found = misfits(&spread(json!({})), &[web("a1")]);
        assert_eq!(found, [full.clone(), full.clone(), None]);
        let found = misfits(&spread(json!({})), &[web("a1"), web("b1")]);
        assert_eq!(found, [None, None, None]);
        let found = misfits(&spread(json!({"maxSkew": 2})), &[web("a1")]);
        assert_eq!(found, [None, None, None]);
        let found = misfits(&spread(json!({"minDomains": 3})), &[web("a1"), web("b1")]);
        assert_eq!(found, [full.clone(), full.clone(), full]);
        let soft = spread(json!({"whenUnsatisfiable": "ScheduleAnyway"}));
        assert_eq!(misfits(&soft, &[web("a1")]), [None, None, None]);
        let missing = spread(json!({"topologyKey": "rack"}));
        let label = Some(Misfit::SpreadLabel);
        assert_eq!(
            misfits(&missing, &[]),
            [label.clone(), label.clone(), label]
        );
    }
}
