use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kubewright::prelude::*;

use super::Member;
use crate::selector::matches;
use crate::{PriorityStrategy, ScatterTerm, UpdateStrategy};

/// The order in which Pods are updated: what serves nobody first, then the younger; above that the
/// strategy's priorities; then spread. It depends on nothing but the Pods.
pub(super) fn ordered<'m>(
    strategy: &UpdateStrategy,
    mut members: Vec<&'m Member>,
) -> Vec<&'m Member> {
    members.sort_by_cached_key(|member| rank(member));
    if let Some(priority) = &strategy.priority_strategy {
        members.sort_by_cached_key(|member| Reverse(weight(priority, &member.pod)));
    }
    for (key, value) in scattered(&strategy.scatter_strategy, &members) {
        members = spread(members, &key, &value);
    }
    members
}

/// Unassigned, pending, not ready, younger; the name makes it certain.
fn rank(member: &Member) -> (bool, u8, bool, Reverse<String>, String, String) {
    let pod = &member.pod;
    let spec = pod.spec.as_ref();
    let is_assigned = spec.is_some_and(|spec| spec.node_name.is_some());
    let status = pod.status.as_ref();
    let phase = match status.and_then(|status| status.phase.as_deref()) {
        Some("Running") => 2,
        Some("Unknown") => 1,
        _ => 0,
    };
    let created = pod.creation_timestamp().map(|time| time.0.to_string());
    (
        is_assigned,
        phase,
        member.is_ready,
        Reverse(created.unwrap_or_default()),
        pod.namespace().unwrap_or_default(),
        pod.name_any(),
    )
}

/// The sum of weights, or the numbers at the end of labels: larger ones come first.
fn weight(priority: &PriorityStrategy, pod: &Pod) -> Vec<i64> {
    if !priority.weight_priority.is_empty() {
        let terms = priority.weight_priority.iter();
        let matching = terms.filter(|term| matches(&term.match_selector, pod.labels()));
        return vec![matching.map(|term| i64::from(term.weight)).sum()];
    }
    let terms = priority.order_priority.iter();
    terms
        .map(|term| pod.labels().get(&term.ordered_key))
        .map(|value| value.map_or(-1, |value| number_at_end(value)))
        .collect()
}

fn number_at_end(text: &str) -> i64 {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = text.strip_prefix(name).unwrap_or_default();
    number.parse().unwrap_or(-1)
}

/// The labels and values to spread by; `*` is each value there is.
fn scattered(terms: &[ScatterTerm], members: &[&Member]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for term in terms {
        if term.value != "*" {
            all.push((term.key.clone(), term.value.clone()));
            continue;
        }
        let values = members
            .iter()
            .filter_map(|one| one.pod.labels().get(&term.key));
        let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
        for value in values {
            *counts.entry(value).or_default() += 1;
        }
        // The most frequent last: then it is spread best.
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(value, count)| (*count, *value));
        let values: BTreeSet<_> = all.iter().map(|(key, value)| (key, value)).collect();
        let new: Vec<_> = counts
            .into_iter()
            .map(|(value, _)| (term.key.clone(), value.clone()))
            .filter(|(key, value)| !values.contains(&(key, value)))
            .collect();
        all.extend(new);
    }
    all
}

/// Those with the label at even distances among the others, each in their order.
fn spread<'m>(members: Vec<&'m Member>, key: &str, value: &str) -> Vec<&'m Member> {
    let total = members.len();
    let is_meant = |one: &&Member| one.pod.labels().get(key).is_some_and(|v| v == value);
    let (meant, others): (Vec<_>, Vec<_>) = members.into_iter().partition(is_meant);
    let count = meant.len();
    if count == 0 {
        return others;
    }
    let (mut meant, mut others) = (meant.into_iter(), others.into_iter());
    let mut placed = 0;
    let mut spread = Vec::with_capacity(total);
    for place in 0..total {
        let is_due = placed * total <= place * count;
        let next = match is_due {
            true => meant
                .next()
                .inspect(|_| placed += 1)
                .or_else(|| others.next()),
            false => others.next().or_else(|| meant.next()),
        };
        spread.extend(next);
    }
    spread
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ordered;
    use crate::roll_out::plan::tests::{member_of, set_of};

    /// The names of Pods with these labels, in the order of a strategy.
    fn order(strategy: Value, pods: &[(&str, Value)]) -> String {
        let set = set_of("i:1", json!({"updateStrategy": strategy}));
        let members: Vec<_> = pods
            .iter()
            .map(|(name, change)| member_of(&set, name, change))
            .collect();
        let ordered = ordered(&set.spec.update_strategy, members.iter().collect());
        let names: Vec<_> = ordered
            .iter()
            .map(|one| one.pod.metadata.name.clone().unwrap())
            .collect();
        names.join(" ")
    }

    fn labels(labels: Value) -> Value {
        json!({"metadata": {"labels": labels}})
    }

    #[test]
    fn what_serves_nobody_comes_first_and_then_the_younger() {
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
        let wanted = "free pending unready young old a b";
        assert_eq!(order(json!({}), &pods), wanted);
        let mut other = pods.clone();
        other.reverse();
        assert_eq!(order(json!({}), &other), wanted);
    }

    #[test]
    fn priorities_come_before_that() {
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
    fn what_is_scattered_does_not_come_at_once() {
        let zone = |zone: &str| labels(json!({"zone": zone}));
        let pods = [
            ("a1", zone("a")),
            ("a2", zone("a")),
            ("a3", zone("a")),
            ("b1", zone("b")),
            ("b2", zone("b")),
            ("b3", zone("b")),
        ];
        let one = json!({"scatterStrategy": [{"key": "zone", "value": "a"}]});
        assert_eq!(order(one, &pods), "a1 b1 a2 b2 a3 b3");
        let each = json!({"scatterStrategy": [{"key": "zone", "value": "*"}]});
        let names = order(each, &pods);
        let zones: Vec<_> = names.split(' ').map(|name| name.chars().next()).collect();
        assert!(zones.windows(2).all(|two| two[0] != two[1]), "{names}");
        let few = [("a1", zone("a")), ("b1", zone("b")), ("b2", zone("b"))];
        let none = json!({"scatterStrategy": [{"key": "zone", "value": "c"}]});
        assert_eq!(order(none, &few), "a1 b1 b2");
    }
}
