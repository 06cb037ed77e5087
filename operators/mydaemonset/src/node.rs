//! Which nodes run a Pod of a set.

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration,
};
use kubewright::prelude::*;

use crate::MyDaemonSet;

/// Taints that every Pod of a set tolerates (`AddOrUpdateDaemonPodTolerations` of
/// pkg/controller/daemon/util).
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The taint that Pods on the node's own network tolerate as well.
const NETWORK_UNAVAILABLE: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// Whether a node runs a Pod of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// The node runs a Pod.
    Required,
    /// The node keeps a Pod that it has, and no new one is created.
    KeepOnly,
    /// The node runs no Pod.
    Forbidden,
}

/// Returns whether the node runs a Pod of the set.
pub(crate) fn placement(node: &Node, set: &MyDaemonSet) -> Placement {
    if !is_selected(node, set) {
        return Placement::Forbidden;
    }
    let tolerations = tolerations_of(set);
    let is_tolerated = |taint: &Taint| {
        tolerations
            .iter()
            .any(|toleration| tolerates(toleration, taint))
    };
    let taints = node
        .spec
        .iter()
        .flat_map(|spec| spec.taints.iter().flatten());
    let effects: Vec<&str> = taints
        .filter(|taint| !is_tolerated(taint))
        .map(|taint| taint.effect.as_str())
        .collect();
    if effects.contains(&"NoExecute") {
        Placement::Forbidden
    } else if effects.contains(&"NoSchedule") {
        Placement::KeepOnly
    } else {
        Placement::Required
    }
}

/// Returns the set's own tolerations, and those that the Pods of every set have.
pub(crate) fn tolerations_of(set: &MyDaemonSet) -> Vec<Toleration> {
    let network = set.spec.host_network.then_some(NETWORK_UNAVAILABLE);
    let common = TOLERATED
        .into_iter()
        .chain(network)
        .map(|(key, effect)| Toleration {
            key: Some(key.to_owned()),
            operator: Some("Exists".to_owned()),
            effect: Some(effect.to_owned()),
            ..Toleration::default()
        });
    set.spec.tolerations.iter().cloned().chain(common).collect()
}

/// Whether the node selector and the required node affinity match the node.
fn is_selected(node: &Node, set: &MyDaemonSet) -> bool {
    let labels = node.labels();
    let has_labels = set
        .spec
        .node_selector
        .iter()
        .all(|(key, value)| labels.get(key) == Some(value));
    let affinity = set.spec.affinity.as_ref();
    let required = affinity
        .and_then(|affinity| affinity.node_affinity.as_ref())
        .and_then(|affinity| {
            affinity
                .required_during_scheduling_ignored_during_execution
                .as_ref()
        });
    has_labels
        && required.is_none_or(|selector| {
            let mut terms = selector.node_selector_terms.iter();
            terms.any(|term| matches_term(node, term))
        })
}

/// Whether the node meets all requirements of a term. A term without any matches no node.
fn matches_term(node: &Node, term: &NodeSelectorTerm) -> bool {
    let expressions = term.match_expressions.iter().flatten();
    let fields = term.match_fields.iter().flatten();
    let name = node.name_any();
    let mut label_matches = expressions.clone().map(|requirement| {
        let label = node.labels().get(&requirement.key);
        meets(label.map(String::as_str), requirement)
    });
    let mut field_matches = fields
        .clone()
        .map(|requirement| requirement.key == "metadata.name" && meets(Some(&name), requirement));
    let is_empty = expressions.count() + fields.count() == 0;
    !is_empty && label_matches.all(|is_match| is_match) && field_matches.all(|is_match| is_match)
}

fn meets(value: Option<&str>, requirement: &NodeSelectorRequirement) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let is_among = value.is_some_and(|value| values.iter().any(|listed| listed == value));
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let numbers = number(value).zip(number(values.first().map(String::as_str)));
    match requirement.operator.as_str() {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => numbers.is_some_and(|(value, bound)| value > bound),
        "Lt" => numbers.is_some_and(|(value, bound)| value < bound),
        _ => false,
    }
}

/// Whether the toleration matches the taint (`ToleratesTaint` of k8s.io/api/core/v1).
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let is_empty_or_equal = |expected: Option<&String>, actual: &str| {
        expected.is_none_or(|expected| expected.is_empty() || expected == actual)
    };
    let has_value = toleration.operator.as_deref() == Some("Exists")
        || toleration.value.as_deref().unwrap_or_default()
            == taint.value.as_deref().unwrap_or_default();
    is_empty_or_equal(toleration.effect.as_ref(), &taint.effect)
        && is_empty_or_equal(toleration.key.as_ref(), &taint.key)
        && has_value
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Node;
    use serde_json::{Value, json};

    use super::{Placement, placement};
    use crate::{MyDaemonSet, MyDaemonSetSpec};

    fn set(options: Value) -> MyDaemonSet {
        let mut spec = options;
        spec["image"] = json!("v1");
        let spec: MyDaemonSetSpec = serde_json::from_value(spec).unwrap();
        MyDaemonSet::new("web", spec)
    }

    fn node(labels: Value, taints: Value) -> Node {
        serde_json::from_value(json!({
            "metadata": {"name": "a", "labels": labels}, "spec": {"taints": taints},
        }))
        .unwrap()
    }

    fn tainted(key: &str, effect: &str) -> Node {
        node(json!({}), json!([{"key": key, "effect": effect}]))
    }

    #[test]
    fn no_schedule_taint_forbids_new_pods_and_no_execute_taint_all_pods() {
        let set = set(json!({}));
        assert_eq!(
            placement(&tainted("gpu", "NoSchedule"), &set),
            Placement::KeepOnly
        );
        assert_eq!(
            placement(&tainted("gpu", "NoExecute"), &set),
            Placement::Forbidden
        );
        assert_eq!(
            placement(&tainted("gpu", "PreferNoSchedule"), &set),
            Placement::Required
        );
    }

    #[test]
    fn cordoned_and_not_ready_nodes_still_run_a_pod() {
        let set = set(json!({}));
        for (key, effect) in [
            ("node.kubernetes.io/unschedulable", "NoSchedule"),
            ("node.kubernetes.io/not-ready", "NoExecute"),
        ] {
            assert_eq!(
                placement(&tainted(key, effect), &set),
                Placement::Required,
                "{key}"
            );
        }
        let network = tainted("node.kubernetes.io/network-unavailable", "NoSchedule");
        assert_eq!(placement(&network, &set), Placement::KeepOnly);
        let on_host = self::set(json!({"hostNetwork": true}));
        assert_eq!(placement(&network, &on_host), Placement::Required);
    }

    #[test]
    fn toleration_matches_key_value_and_effect() {
        let node = node(
            json!({}),
            json!([{"key": "gpu", "value": "a", "effect": "NoExecute"}]),
        );
        for (toleration, expected) in [
            (json!({"operator": "Exists"}), Placement::Required),
            (
                json!({"key": "gpu", "operator": "Exists"}),
                Placement::Required,
            ),
            (json!({"key": "gpu", "value": "a"}), Placement::Required),
            (json!({"key": "gpu", "value": "b"}), Placement::Forbidden),
            (
                json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
                Placement::Forbidden,
            ),
        ] {
            let set = set(json!({"tolerations": [toleration]}));
            assert_eq!(placement(&node, &set), expected, "{toleration}");
        }
    }

    #[test]
    fn node_selector_and_affinity_select_nodes() {
        let gpu = node(json!({"kind": "gpu", "cores": "8"}), json!([]));
        let term = |key: &str, operator: &str, values: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [
                    {"key": key, "operator": operator, "values": values},
                ]}],
            }}}})
        };
        for (options, expected) in [
            (
                json!({"nodeSelector": {"kind": "gpu"}}),
                Placement::Required,
            ),
            (
                json!({"nodeSelector": {"kind": "cpu"}}),
                Placement::Forbidden,
            ),
            (term("kind", "In", json!(["gpu"])), Placement::Required),
            (term("kind", "NotIn", json!(["gpu"])), Placement::Forbidden),
            (term("disk", "DoesNotExist", json!([])), Placement::Required),
            (term("disk", "Exists", json!([])), Placement::Forbidden),
            (term("cores", "Gt", json!(["4"])), Placement::Required),
            (term("cores", "Lt", json!(["4"])), Placement::Forbidden),
        ] {
            assert_eq!(
                placement(&gpu, &set(options.clone())),
                expected,
                "{options}"
            );
        }
    }
}
