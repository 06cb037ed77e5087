//! The order in which Pods are updated.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kubewright::prelude::*;

use super::InjectedPod;
use crate::selector::matches;
use crate::{PriorityStrategy, ScatterTerm, UpdateStrategy};

/// Sorts Pods into the order in which they are updated: by the priorities of the strategy, then
/// Pods that are not ready before others, then younger ones before older ones. At last Pods are
/// scattered. The order depends only on the Pods, so that a restarted operator continues with the
/// same ones.
pub(super) fn update_order<'p>(
    strategy: &UpdateStrategy,
    mut pods: Vec<&'p InjectedPod>,
) -> Vec<&'p InjectedPod> {
    pods.sort_by_cached_key(|pod| rank(pod));
    if let Some(priority) = &strategy.priority_strategy {
        pods.sort_by_cached_key(|pod| Reverse(weights(priority, &pod.pod)));
    }
    for label in scattered_labels(&strategy.scatter_strategy, &pods) {
        pods = scatter(pods, &label);
    }
    pods
}

/// Unscheduled, pending, not ready, younger; then by name, so that no two are equal.
fn rank(injected: &InjectedPod) -> (bool, u8, bool, Reverse<String>, String, String) {
    let pod = &injected.pod;
    let spec = pod.spec.as_ref();
    let is_scheduled = spec.is_some_and(|spec| spec.node_name.is_some());
    let status = pod.status.as_ref();
    let phase = match status.and_then(|status| status.phase.as_deref()) {
        Some("Running") => 2,
        Some("Unknown") => 1,
        _ => 0,
    };
    let created = pod.creation_timestamp().map(|time| time.0.to_string());
    (
        is_scheduled,
        phase,
        injected.is_ready,
        Reverse(created.unwrap_or_default()),
        pod.namespace().unwrap_or_default(),
        pod.name_any(),
    )
}

/// The sum of the weights, or the numbers at the end of labels. Larger ones come first.
fn weights(priority: &PriorityStrategy, pod: &Pod) -> Vec<i64> {
    if !priority.weight_priority.is_empty() {
        let terms = priority.weight_priority.iter();
        let matching = terms.filter(|term| matches(&term.match_selector, pod.labels()));
        return vec![matching.map(|term| i64::from(term.weight)).sum()];
    }
    let terms = priority.order_priority.iter();
    terms
        .map(|term| {
            let value = pod.labels().get(&term.ordered_key);
            value.map_or(-1, |value| number_at_end(value))
        })
        .collect()
}

fn number_at_end(text: &str) -> i64 {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_prefix(name).unwrap_or_default();
    number.parse().unwrap_or(-1)
}

/// A label whose Pods are scattered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ScatteredLabel {
    key: String,
    value: String,
}

/// The labels of the terms, where `*` stands for each value that a Pod has.
fn scattered_labels(terms: &[ScatterTerm], pods: &[&InjectedPod]) -> Vec<ScatteredLabel> {
    let mut labels = Vec::new();
    for term in terms {
        let label = |value: &String| ScatteredLabel {
            key: term.key.clone(),
            value: value.clone(),
        };
        if term.value != "*" {
            labels.push(label(&term.value));
            continue;
        }
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for pod in pods {
            if let Some(value) = pod.pod.labels().get(&term.key) {
                *counts.entry(value).or_default() += 1;
            }
        }
        // The most frequent value last, since the last one is scattered best.
        let mut values: Vec<_> = counts.into_iter().collect();
        values.sort_by_key(|(value, count)| (*count, *value));
        let known: BTreeSet<ScatteredLabel> = labels.iter().cloned().collect();
        let new = values.into_iter().map(|(value, _)| label(value));
        labels.extend(new.filter(|label| !known.contains(label)));
    }
    labels
}

/// Places the Pods with the label at even distances among the others. Both keep their order.
fn scatter<'p>(pods: Vec<&'p InjectedPod>, label: &ScatteredLabel) -> Vec<&'p InjectedPod> {
    let total = pods.len();
    let has_label = |pod: &&InjectedPod| pod.pod.labels().get(&label.key) == Some(&label.value);
    let (labelled, others): (Vec<_>, Vec<_>) = pods.into_iter().partition(has_label);
    let count = labelled.len();
    if count == 0 {
        return others;
    }
    let (mut labelled, mut others) = (labelled.into_iter(), others.into_iter());
    let mut placed = 0;
    let mut scattered = Vec::with_capacity(total);
    for position in 0..total {
        let is_due = placed * total <= position * count;
        let next = if is_due {
            placed += 1;
            labelled.next().or_else(|| others.next())
        } else {
            others.next().or_else(|| labelled.next())
        };
        scattered.extend(next);
    }
    scattered
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::update_order;
    use crate::roll_out::fixtures::{injected_pod_of, set_of};

    /// Returns the names of Pods with these changes, in the order of a strategy.
    fn order(strategy: Value, pods: &[(&str, Value)]) -> String {
        let set = set_of("i:1", json!({"updateStrategy": strategy}));
        let injected: Vec<_> = pods
            .iter()
            .map(|(name, change)| injected_pod_of(&set, name, change))
            .collect();
        let ordered = update_order(&set.spec.update_strategy, injected.iter().collect());
        let names: Vec<_> = ordered
            .iter()
            .map(|pod| pod.pod.metadata.name.clone().unwrap())
            .collect();
        names.join(" ")
    }

    fn labels(labels: Value) -> Value {
        json!({"metadata": {"labels": labels}})
    }

    #[test]
    fn pods_that_are_not_ready_come_first_and_then_younger_ones() {
        let at = |time: &str| json!({"metadata": {"creationTimestamp": time}});
        let pods = [
            ("old", at("2026-01-01T00:00:00Z")),
            ("young", at("2026-01-02T00:00:00Z")),
            ("b", json!({})),
            ("a", json!({})),
            ("pending", json!({"status": {"phase": "Pending"}})),
            (
                "unready",
                json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
            ),
            ("free", json!({"spec": {"nodeName": null}})),
        ];
        let expected = "free pending unready young old a b";
        assert_eq!(order(json!({}), &pods), expected);
        let mut reversed = pods.clone();
        reversed.reverse();
        assert_eq!(order(json!({}), &reversed), expected);
    }

    #[test]
    fn priorities_take_precedence_over_readiness_and_age() {
        let pods = [
            ("a", labels(json!({"tier": "x", "n": "pod-2"}))),
            ("b", labels(json!({"tier": "y", "n": "pod-10"}))),
            ("c", labels(json!({"tier": "y", "zone": "z"}))),
        ];
        let term = |weight: i32, key: &str, value: &str| json!({"weight": weight, "matchSelector": {"matchLabels": {key: value}}});
        let weights = json!({"weightPriority": [term(10, "tier", "y"), term(20, "zone", "z")]});
        assert_eq!(order(json!({"priorityStrategy": weights}), &pods), "c b a");
        let numbers = json!({"orderPriority": [{"orderedKey": "n"}]});
        assert_eq!(order(json!({"priorityStrategy": numbers}), &pods), "b a c");
    }

    #[test]
    fn pods_with_a_scattered_label_are_not_updated_in_a_row() {
        let zone = |zone: &str| labels(json!({"zone": zone}));
        let pods = [
            ("a1", zone("a")),
            ("a2", zone("a")),
            ("a3", zone("a")),
            ("b1", zone("b")),
            ("b2", zone("b")),
            ("b3", zone("b")),
        ];
        let zone_a = json!({"scatterStrategy": [{"key": "zone", "value": "a"}]});
        assert_eq!(order(zone_a, &pods), "a1 b1 a2 b2 a3 b3");
        let each = json!({"scatterStrategy": [{"key": "zone", "value": "*"}]});
        let names = order(each, &pods);
        let zones: Vec<_> = names.split(' ').map(|name| name.chars().next()).collect();
        assert!(zones.windows(2).all(|pair| pair[0] != pair[1]), "{names}");
        let few = [("a1", zone("a")), ("b1", zone("b")), ("b2", zone("b"))];
        let none = json!({"scatterStrategy": [{"key": "zone", "value": "c"}]});
        assert_eq!(order(none, &few), "a1 b1 b2");
    }
}
