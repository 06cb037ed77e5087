//! Properties of any roll-out. A failure prints the smallest case and its seed.

use std::sync::Arc;

use kubewright::prelude::*;
use proptest::prelude::{Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_oneof};
use proptest::sample::Index;
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::plan;
use crate::SidecarSet;
use crate::roll_out::fixtures::{pod_of, run_by_kubelet, set_of};
use crate::roll_out::{InjectedPod, injected_pod, updated};

/// A number or a percentage of Pods, as in a strategy.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Number(usize),
    Percent(usize),
}

impl Amount {
    fn json(self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Percent(percent) => json!(format!("{percent}%")),
        }
    }

    /// The number of Pods out of a total; a percentage is rounded up.
    fn of(self, total: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => (total * percent).div_ceil(100),
        }
    }

    /// How many Pods a partition keeps back: not all unless 100 % are given.
    fn kept_back_of(self, total: usize) -> usize {
        match self {
            Self::Percent(percent) if percent < 100 => self.of(total).min(total.saturating_sub(1)),
            amount => amount.of(total).min(total),
        }
    }
}

/// A roll-out, and what happens during it.
#[derive(Clone, Debug)]
struct RollOut {
    partition: Amount,
    max_unavailable: Amount,
    priority: Value,
    scatter: Value,
    /// The zone and the weight of each Pod.
    pods: Vec<(u8, u8)>,
    /// Which Pod its kubelet runs in each round, and whether it is ready then: 0 if not.
    kubelets: Vec<(Index, u8)>,
}

impl RollOut {
    fn set(&self) -> SidecarSet {
        let mut strategy = json!({"partition": self.partition.json(),
            "maxUnavailable": self.max_unavailable.json(), "scatterStrategy": self.scatter});
        if !self.priority.is_null() {
            strategy["priorityStrategy"] = self.priority.clone();
        }
        set_of("i:2", json!({"updateStrategy": strategy}))
    }

    fn pods(&self) -> Vec<Pod> {
        let old = set_of("i:1", json!({}));
        let pod = |(index, &(zone, weight)): (usize, &(u8, u8))| {
            let mut pod = pod_of(&old, &format!("p{index}"));
            let labels = pod.labels_mut();
            labels.insert("zone".to_owned(), format!("z{zone}"));
            labels.insert("weight".to_owned(), format!("w{weight}"));
            pod
        };
        self.pods.iter().enumerate().map(pod).collect()
    }
}

fn amount(min: usize, max: usize) -> impl Strategy<Value = Amount> {
    prop_oneof![
        (min..max).prop_map(Amount::Number),
        (min..101).prop_map(Amount::Percent),
    ]
}

fn roll_out() -> impl Strategy<Value = RollOut> {
    let term = |weight: u8| json!({"weight": weight, "matchSelector": {"matchLabels": {"weight": format!("w{weight}")}}});
    let priority = prop_oneof![
        Just(Value::Null),
        Just(json!({"weightPriority": [term(1), term(2)]})),
        Just(json!({"orderPriority": [{"orderedKey": "weight"}]})),
    ];
    let scatter = prop_oneof![
        Just(json!([])),
        Just(json!([{"key": "zone", "value": "*"}])),
        Just(json!([{"key": "zone", "value": "z1"}])),
    ];
    let pods = prop::collection::vec((0_u8..3, 0_u8..3), 1..8);
    let kubelets = prop::collection::vec((any::<Index>(), 0_u8..3), 0..15);
    let amounts = (amount(0, 9), amount(1, 4));
    (amounts, priority, scatter, pods, kubelets).prop_map(
        |((partition, max_unavailable), priority, scatter, pods, kubelets)| RollOut {
            partition,
            max_unavailable,
            priority,
            scatter,
            pods,
            kubelets,
        },
    )
}

fn names(pods: &[Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.name_any()).collect()
}

fn injected_pods(set: &SidecarSet, pods: &[Pod]) -> Vec<InjectedPod> {
    pods.iter()
        .map(|pod| injected_pod(set, &Arc::new(pod.clone())).unwrap())
        .collect()
}

/// Plans and updates once, and returns the number of updates. Asserts that `maxUnavailable` is kept
/// and that the order of the Pods does not matter.
fn step(
    set: &SidecarSet,
    pods: &mut [Pod],
    max_unavailable: usize,
) -> Result<usize, TestCaseError> {
    let injected = injected_pods(set, pods);
    let next = plan(set, &injected);
    let reversed: Vec<_> = injected.iter().rev().cloned().collect();
    prop_assert_eq!(names(&next.update), names(&plan(set, &reversed).update));
    let unready = injected
        .iter()
        .filter(|pod| pod.is_updated && !pod.is_ready)
        .count();
    let is_next = |injected: &InjectedPod| {
        let mut update = next.update.iter();
        update.any(|pod| Arc::ptr_eq(pod, &injected.pod))
    };
    let ready_updates = injected
        .iter()
        .filter(|pod| pod.is_ready && is_next(pod))
        .count();
    prop_assert!(
        ready_updates + unready <= max_unavailable.max(unready),
        "{ready_updates} ready Pods are updated while {unready} are not ready"
    );
    for pod in &next.update {
        let index = pods
            .iter()
            .position(|other| other.name_any() == pod.name_any());
        pods[index.unwrap()] = updated(set, pod, "s-1", "now").unwrap().pod;
    }
    Ok(next.update.len())
}

fn outdated(set: &SidecarSet, pods: &[Pod]) -> usize {
    let injected = injected_pods(set, pods);
    injected.iter().filter(|pod| !pod.is_updated).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Kubelets run updated Pods in any order and at any time, and some Pods are not ready.
    #[test]
    fn roll_out_keeps_partition_and_max_unavailable_and_completes(roll_out in roll_out()) {
        let set = roll_out.set();
        let mut pods = roll_out.pods();
        let total = pods.len();
        let max_unavailable = roll_out.max_unavailable.of(total);
        let kept_back = roll_out.partition.kept_back_of(total);
        let mut kubelets = roll_out.kubelets.iter();
        for round in 0..60 {
            let updates = step(&set, &mut pods, max_unavailable)?;
            prop_assert!(outdated(&set, &pods) >= kept_back);
            match kubelets.next() {
                Some((index, readiness)) => {
                    let pod = &mut pods[index.index(total)];
                    *pod = run_by_kubelet(pod.clone());
                    if *readiness == 0 {
                        let unready = json!([{"type": "Ready", "status": "False"}]);
                        let status = pod.status.as_mut().unwrap();
                        status.conditions = serde_json::from_value(unready).unwrap();
                    }
                }
                None if updates == 0 && round > 15 => break,
                None => pods = pods.into_iter().map(run_by_kubelet).collect(),
            }
        }
        prop_assert_eq!(outdated(&set, &pods), kept_back);
    }

    /// While all Pods are ready, and without scattering.
    #[test]
    fn pods_of_larger_weight_are_updated_first(mut roll_out in roll_out()) {
        roll_out.scatter = json!([]);
        let set = roll_out.set();
        let next = plan(&set, &injected_pods(&set, &roll_out.pods()));
        let weight = |pod: &Arc<Pod>| pod.labels()["weight"].clone();
        let updated: Vec<_> = next.update.iter().map(weight).collect();
        if !roll_out.priority.is_null() {
            let weights = roll_out.pods.iter().map(|(_, weight)| format!("w{weight}"));
            let mut expected: Vec<_> = weights.collect();
            expected.sort_unstable_by(|left, right| right.cmp(left));
            expected.truncate(updated.len());
            prop_assert_eq!(updated, expected);
        }
    }
}
