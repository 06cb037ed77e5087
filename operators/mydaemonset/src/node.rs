//! Which nodes run a Pod of a set.

use k8s_openapi::api::core::v1::{
    Node, NodeSelectorRequirement, NodeSelectorTerm, Taint, Toleration,
};
use kubewright::prelude::*;

use crate::MyDaemonSet;

/// What a node may suffer from while its Pod starts and stays.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// What a Pod that uses the node's own network does not mind either.
const WITHOUT_NETWORK: (&str, &str) = ("node.kubernetes.io/network-unavailable", "NoSchedule");

/// What a node is to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It runs a Pod.
    Runs,
    /// It starts no Pod, and keeps the one that it has.
    Keeps,
    /// It runs none.
    Shuns,
}

/// What the node is to the set.
pub(crate) fn role_of(node: &Node, set: &MyDaemonSet) -> Role {
    if !is_selected(node, set) {
        return Role::Shuns;
    }
    let tolerations = tolerations_of(set);
    let spec = node.spec.iter();
    let taints = spec.flat_map(|spec| spec.taints.iter().flatten());
    let repelling = taints.filter(|taint| !tolerations.iter().any(|one| tolerates(one, taint)));
    let effects: Vec<&str> = repelling.map(|taint| taint.effect.as_str()).collect();
    if effects.contains(&"NoExecute") {
        return Role::Shuns;
    }
    match effects.contains(&"NoSchedule") {
        true => Role::Keeps,
        false => Role::Runs,
    }
}

/// The set's own tolerations, and those that the Pods of every set have.
pub(crate) fn tolerations_of(set: &MyDaemonSet) -> Vec<Toleration> {
    let network = set.spec.host_network.then_some(WITHOUT_NETWORK);
    let common = TOLERATED.into_iter().chain(network);
    let common = common.map(|(key, effect)| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some(effect.to_owned()),
        ..Toleration::default()
    });
    set.spec.tolerations.iter().cloned().chain(common).collect()
}

/// Whether selector and required affinity match the node's labels and name.
fn is_selected(node: &Node, set: &MyDaemonSet) -> bool {
    let labels = node.labels();
    let mut wanted = set.spec.node_selector.iter();
    let affinity = set.spec.affinity.as_ref();
    let affinity = affinity.and_then(|affinity| affinity.node_affinity.as_ref());
    let required = affinity.and_then(|affinity| {
        let required = &affinity.required_during_scheduling_ignored_during_execution;
        required.as_ref()
    });
    wanted.all(|(key, value)| labels.get(key) == Some(value))
        && required.is_none_or(|required| {
            let mut terms = required.node_selector_terms.iter();
            terms.any(|term| is_met(term, node))
        })
}

/// Whether all requirements of a term are met; one without any matches nothing.
fn is_met(term: &NodeSelectorTerm, node: &Node) -> bool {
    let expressions = term.match_expressions.iter().flatten();
    let fields = term.match_fields.iter().flatten();
    let name = node.name_any();
    let mut of_labels = expressions
        .clone()
        .map(|one| meets(one, node.labels().get(&one.key).map(String::as_str)));
    let mut of_fields = fields
        .clone()
        .map(|one| one.key == "metadata.name" && meets(one, Some(&name)));
    let is_empty = expressions.count() + fields.count() == 0;
    !is_empty && of_labels.all(|met| met) && of_fields.all(|met| met)
}

fn meets(requirement: &NodeSelectorRequirement, found: Option<&str>) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let is_among = found.is_some_and(|found| values.iter().any(|value| value == found));
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let compared = number(found).zip(number(values.first().map(String::as_str)));
    match requirement.operator.as_str() {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        "Gt" => compared.is_some_and(|(found, bound)| found > bound),
        "Lt" => compared.is_some_and(|(found, bound)| found < bound),
        _ => false,
    }
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let is_empty_or = |wanted: &Option<String>, found: &str| {
        wanted
            .as_deref()
            .is_none_or(|one| one.is_empty() || one == found)
    };
    let is_value = match toleration.operator.as_deref() {
        Some("Exists") => true,
        _ => {
            toleration.value.as_deref().unwrap_or_default()
                == taint.value.as_deref().unwrap_or_default()
        }
    };
    is_empty_or(&toleration.effect, &taint.effect)
        && is_empty_or(&toleration.key, &taint.key)
        && is_value
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Node;
    use kubewright::prelude::*;
    use serde_json::{Value, json};

    use super::{Role, role_of};
    use crate::{MyDaemonSet, MyDaemonSetSpec};

    fn set(options: Value) -> MyDaemonSet {
        let mut spec = json!({"image": "v1"});
        spec.as_object_mut()
            .unwrap()
            .append(options.clone().as_object_mut().unwrap());
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
    fn a_taint_keeps_pods_from_starting_or_from_staying() {
        let set = set(json!({}));
        assert_eq!(role_of(&tainted("gpu", "NoSchedule"), &set), Role::Keeps);
        assert_eq!(role_of(&tainted("gpu", "NoExecute"), &set), Role::Shuns);
        assert_eq!(
            role_of(&tainted("gpu", "PreferNoSchedule"), &set),
            Role::Runs
        );
    }

    #[test]
    fn a_node_that_is_cordoned_or_not_ready_still_runs_a_pod() {
        let set = set(json!({}));
        for (key, effect) in [
            ("node.kubernetes.io/unschedulable", "NoSchedule"),
            ("node.kubernetes.io/not-ready", "NoExecute"),
        ] {
            assert_eq!(role_of(&tainted(key, effect), &set), Role::Runs, "{key}");
        }
        let network = tainted("node.kubernetes.io/network-unavailable", "NoSchedule");
        assert_eq!(role_of(&network, &set), Role::Keeps);
        let on_host = self::set(json!({"hostNetwork": true}));
        assert_eq!(role_of(&network, &on_host), Role::Runs);
    }

    #[test]
    fn a_toleration_is_for_a_key_a_value_and_an_effect() {
        let node = node(
            json!({}),
            json!([{"key": "gpu", "value": "a", "effect": "NoExecute"}]),
        );
        for (toleration, role) in [
            (json!({"operator": "Exists"}), Role::Runs),
            (json!({"key": "gpu", "operator": "Exists"}), Role::Runs),
            (json!({"key": "gpu", "value": "a"}), Role::Runs),
            (json!({"key": "gpu", "value": "b"}), Role::Shuns),
            (
                json!({"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
                Role::Shuns,
            ),
        ] {
            let set = set(json!({"tolerations": [toleration]}));
            assert_eq!(role_of(&node, &set), role, "{toleration}");
        }
    }

    #[test]
    fn selector_and_affinity_choose_nodes() {
        let gpu = node(json!({"kind": "gpu", "cores": "8"}), json!([]));
        let term = |key: &str, operator: &str, values: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [
                    {"key": key, "operator": operator, "values": values},
                ]}],
            }}}})
        };
        for (options, role) in [
            (json!({"nodeSelector": {"kind": "gpu"}}), Role::Runs),
            (json!({"nodeSelector": {"kind": "cpu"}}), Role::Shuns),
            (term("kind", "In", json!(["gpu"])), Role::Runs),
            (term("kind", "NotIn", json!(["gpu"])), Role::Shuns),
            (term("disk", "DoesNotExist", json!([])), Role::Runs),
            (term("disk", "Exists", json!([])), Role::Shuns),
            (term("cores", "Gt", json!(["4"])), Role::Runs),
            (term("cores", "Lt", json!(["4"])), Role::Shuns),
        ] {
            assert_eq!(role_of(&gpu, &set(options.clone())), role, "{options}");
        }
    }
}
