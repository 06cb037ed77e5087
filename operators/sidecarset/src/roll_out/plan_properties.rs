//! What holds for every roll-out. A failure prints the smallest case and its seed.

use std::sync::Arc;

use kubewright::prelude::*;
use proptest::prelude::{Just, ProptestConfig, Strategy, TestCaseError, any, prop, prop_oneof};
use proptest::sample::Index;
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::plan;
use super::tests::{pod_of, set_of, settled};
use crate::SidecarSet;
use crate::roll_out::{Member, member, updated};

/// So many Pods of all, as a strategy says it.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Number(usize),
    Percent(usize),
}

impl Amount {
    fn written(self) -> Value {
        match self {
            Self::Number(number) => json!(number),
            Self::Percent(percent) => json!(format!("{percent}%")),
        }
    }

    /// A percentage is rounded up.
    fn of(self, all: usize) -> usize {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => (all * percent).div_ceil(100),
        }
    }

    /// How many Pods a partition keeps: less than all where less than all were asked for.
    fn kept_of(self, all: usize) -> usize {
        match self {
            Self::Percent(percent) if percent < 100 => self.of(all).min(all.saturating_sub(1)),
            amount => amount.of(all).min(all),
        }
    }
}

/// A roll-out and what happens meanwhile: which kubelet answers, and whether its Pod is unready.
#[derive(Clone, Debug)]
struct RollOut {
    partition: Amount,
    most: Amount,
    priority: Value,
    scatter: Value,
    /// The zone and the weight of each Pod.
    pods: Vec<(u8, u8)>,
    events: Vec<(Index, u8)>,
}

impl RollOut {
    fn set(&self) -> SidecarSet {
        let mut strategy = json!({"partition": self.partition.written(),
            "maxUnavailable": self.most.written(), "scatterStrategy": self.scatter});
        if !self.priority.is_null() {
            strategy["priorityStrategy"] = self.priority.clone();
        }
        set_of("i:2", json!({"updateStrategy": strategy}))
    }

    fn pods(&self) -> Vec<Pod> {
        let old = set_of("i:1", json!({}));
        let pod = |(place, &(zone, weight)): (usize, &(u8, u8))| {
            let mut pod = pod_of(&old, &format!("p{place}"));
            let labels = pod.labels_mut();
            labels.insert("zone".to_owned(), format!("z{zone}"));
            labels.insert("weight".to_owned(), format!("w{weight}"));
            pod
        };
        self.pods.iter().enumerate().map(pod).collect()
    }
}

fn amount(least: usize, most: usize) -> impl Strategy<Value = Amount> {
    prop_oneof![
        (least..most).prop_map(Amount::Number),
        (least..101).prop_map(Amount::Percent),
    ]
}

fn roll_out() -> impl Strategy<Value = RollOut> {
    let heavy = |weight: u8| json!({"weight": weight, "matchSelector": {"matchLabels": {"weight": format!("w{weight}")}}});
    let priority = prop_oneof![
        Just(Value::Null),
        Just(json!({"weightPriority": [heavy(1), heavy(2)]})),
        Just(json!({"orderPriority": [{"orderedKey": "weight"}]})),
    ];
    let scatter = prop_oneof![
        Just(json!([])),
        Just(json!([{"key": "zone", "value": "*"}])),
        Just(json!([{"key": "zone", "value": "z1"}])),
    ];
    let pods = prop::collection::vec((0_u8..3, 0_u8..3), 1..8);
    let events = prop::collection::vec((any::<Index>(), 0_u8..3), 0..15);
    let amounts = (amount(0, 9), amount(1, 4));
    (amounts, priority, scatter, pods, events).prop_map(
        |((partition, most), priority, scatter, pods, events)| RollOut {
            partition,
            most,
            priority,
            scatter,
            pods,
            events,
        },
    )
}

fn names(pods: &[Arc<Pod>]) -> Vec<String> {
    pods.iter().map(|pod| pod.name_any()).collect()
}

fn members(set: &SidecarSet, all: &[Pod]) -> Vec<Member> {
    let all = all.iter().map(|pod| Arc::new(pod.clone()));
    all.map(|pod| member(set, &pod).unwrap()).collect()
}

/// One look at the Pods: the bounds hold, and the order in which Pods are listed is nothing.
fn step(set: &SidecarSet, all: &mut [Pod], most: usize) -> Result<usize, TestCaseError> {
    let seen = members(set, all);
    let next = plan(set, &seen);
    let backwards: Vec<_> = seen.iter().rev().cloned().collect();
    prop_assert_eq!(names(&next.update), names(&plan(set, &backwards).update));
    let down = seen.iter().filter(|one| one.is_updated && !one.is_ready);
    let down = down.count();
    let is_chosen = |one: &&Member| next.update.iter().any(|pod| Arc::ptr_eq(pod, &one.pod));
    let taken = seen.iter().filter(is_chosen).filter(|one| one.is_ready);
    let taken = taken.count();
    prop_assert!(
        taken + down <= most.max(down),
        "{taken} of the ready while {down} are down"
    );
    for pod in &next.update {
        let place = all.iter().position(|one| one.name_any() == pod.name_any());
        all[place.unwrap()] = updated(set, pod, "s-1", "now").unwrap().pod;
    }
    Ok(next.update.len())
}

fn outdated(set: &SidecarSet, all: &[Pod]) -> usize {
    let seen = members(set, all);
    seen.iter().filter(|one| !one.is_updated).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Kubelets answer in any order and at any time; Pods are unready at random.
    #[test]
    fn a_roll_out_keeps_its_bounds_and_ends(roll_out in roll_out()) {
        let set = roll_out.set();
        let mut all = roll_out.pods();
        let (pods, most) = (all.len(), roll_out.most.of(all.len()));
        let kept = roll_out.partition.kept_of(pods);
        let mut events = roll_out.events.iter();
        for round in 0..60 {
            let changed = step(&set, &mut all, most)?;
            prop_assert!(outdated(&set, &all) >= kept);
            match events.next() {
                Some((index, kind)) => {
                    let pod = &mut all[index.index(pods)];
                    *pod = settled(pod.clone());
                    if *kind == 0 {
                        let unready = json!([{"type": "Ready", "status": "False"}]);
                        let status = pod.status.as_mut().unwrap();
                        status.conditions = serde_json::from_value(unready).unwrap();
                    }
                }
                None if changed == 0 && round > 15 => break,
                None => all = all.into_iter().map(settled).collect(),
            }
        }
        prop_assert_eq!(outdated(&set, &all), kept);
    }

    /// While all are ready, the heavier come first unless zones are to be spread.
    #[test]
    fn the_heavier_are_updated_first(roll_out in roll_out()) {
        let mut roll_out = roll_out;
        roll_out.scatter = json!([]);
        let set = roll_out.set();
        let next = plan(&set, &members(&set, &roll_out.pods()));
        let weight = |pod: &Arc<Pod>| pod.labels()["weight"].clone();
        let taken: Vec<_> = next.update.iter().map(weight).collect();
        if !roll_out.priority.is_null() {
            let mut all: Vec<_> = roll_out.pods.iter().map(|(_, weight)| format!("w{weight}")).collect();
            all.sort_unstable_by(|one, other| other.cmp(one));
            all.truncate(taken.len());
            prop_assert_eq!(taken, all);
        }
    }
}
