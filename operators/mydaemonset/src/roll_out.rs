//! How a change of the spec reaches the Pods: a few nodes at a time.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kubewright::prelude::*;
use kubewright::webhook::Findings;

use crate::{MyDaemonSet, UpdateStrategy};

/// What a node that should run a Pod has: one of a former spec, one of the present one, or both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seat {
    pub(crate) node: String,
    pub(crate) old: Option<Occupant>,
    pub(crate) new: Option<Occupant>,
}

/// A Pod, and whether it has been ready for long enough.
#[derive(Clone, Debug)]
pub(crate) struct Occupant {
    pub(crate) pod: Arc<Pod>,
    pub(crate) is_available: bool,
}

/// How many nodes may change at once, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// The old Pod goes before the new one comes, on so many nodes.
    Unavailable(usize),
    /// The new Pod comes before the old one goes, on so many nodes.
    Surge(usize),
}

/// What to do now.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// The nodes that get a new Pod beside their old one.
    pub(crate) start: Vec<String>,
    /// The Pods that go.
    pub(crate) stop: Vec<Arc<Pod>>,
}

impl Strategy {
    /// What the set asks for, where so many nodes should run a Pod.
    pub(crate) fn of(set: &MyDaemonSet, nodes: usize) -> Self {
        let strategy = &set.spec.update_strategy;
        match amount(strategy.max_surge.as_ref(), nodes) {
            Some(surge @ 1..) => Self::Surge(surge),
            _ => {
                let unavailable = amount(strategy.max_unavailable.as_ref(), nodes);
                Self::Unavailable(unavailable.unwrap_or(1).max(1))
            }
        }
    }

    /// The next steps of a change.
    pub(crate) fn steps(self, seats: &[Seat]) -> Steps {
        match self {
            Self::Unavailable(most) => replace(seats, most),
            Self::Surge(most) => surge(seats, most),
        }
    }
}

/// Old Pods that serve nobody go at once, the others while few enough nodes wait.
fn replace(seats: &[Seat], most: usize) -> Steps {
    let serves = |seat: &&Seat| match (&seat.old, &seat.new) {
        (Some(one), None) | (None, Some(one)) => one.is_available,
        _ => false,
    };
    let waiting = seats.len() - seats.iter().filter(serves).count();
    let outdated = seats.iter().filter(|seat| seat.new.is_none());
    let (serving, idle): (Vec<_>, Vec<_>) = outdated
        .filter_map(|seat| seat.old.as_ref())
        .partition(|old| old.is_available);
    let few = serving.into_iter().take(most.saturating_sub(waiting));
    Steps {
        start: Vec::new(),
        stop: idle
            .into_iter()
            .chain(few)
            .map(|old| Arc::clone(&old.pod))
            .collect(),
    }
}

/// New Pods start beside old ones, and take their place once they are available.
fn surge(seats: &[Seat], most: usize) -> Steps {
    let mut steps = Steps::default();
    let mut candidates = Vec::new();
    let mut under_way = 0;
    for seat in seats {
        match (&seat.old, &seat.new) {
            (None, _) => {}
            (Some(old), None) if old.is_available => candidates.push(seat.node.clone()),
            (Some(_), None) => steps.start.push(seat.node.clone()),
            (Some(old), Some(new)) if new.is_available || !old.is_available => {
                steps.stop.push(Arc::clone(&old.pod));
            }
            (Some(_), Some(_)) => under_way += 1,
        }
    }
    candidates.truncate(most.saturating_sub(under_way));
    steps.start.extend(candidates);
    steps
}

/// What is wrong with a strategy: exactly one of the two says how many nodes change at once.
pub(crate) fn check(strategy: &UpdateStrategy, findings: &mut Findings) {
    let fields = [
        ("maxUnavailable", &strategy.max_unavailable),
        ("maxSurge", &strategy.max_surge),
    ];
    for (name, given) in fields {
        // Of a hundred nodes, so that only 0 and 0% come to none.
        if given.is_some() && amount(given.as_ref(), 100).is_none() {
            let why = "must be a number that is not negative, or a percentage such as 10%";
            findings.invalid(format!("spec.updateStrategy.{name}"), given, why);
        }
    }
    let [unavailable, surge] = fields.map(|(_, given)| amount(given.as_ref(), 100));
    match (unavailable, surge) {
        (Some(1..), Some(1..)) => findings.invalid(
            "spec.updateStrategy.maxSurge",
            &strategy.max_surge,
            "must be 0 where maxUnavailable is not",
        ),
        (Some(0), None | Some(0)) => findings.invalid(
            "spec.updateStrategy.maxUnavailable",
            &strategy.max_unavailable,
            "must not be 0 where maxSurge is",
        ),
        _ => {}
    }
}

/// A number, or a percentage of the nodes, rounded up.
fn amount(given: Option<&IntOrString>, nodes: usize) -> Option<usize> {
    match given? {
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

    use super::{Occupant, Seat, Strategy, check};
    use crate::{MyDaemonSet, MyDaemonSetSpec, UpdateStrategy};

    /// A node by two letters, its old Pod and its new one: `A` available, `w` waiting, `-` none.
    fn seats(states: &[&str]) -> Vec<Seat> {
        let occupant = |name: String, state: char| {
            let mut pod = Pod::default();
            pod.metadata.name = Some(name);
            (state != '-').then(|| Occupant {
                pod: Arc::new(pod),
                is_available: state == 'A',
            })
        };
        let seat = |(number, state): (usize, &&str)| {
            let mut states = state.chars();
            let mut next = |age: &str| occupant(format!("{age}{number}"), states.next().unwrap());
            Seat {
                node: number.to_string(),
                old: next("old"),
                new: next("new"),
            }
        };
        states.iter().enumerate().map(seat).collect()
    }

    fn stopped(strategy: Strategy, states: &[&str]) -> Vec<String> {
        let stop = strategy.steps(&seats(states)).stop;
        stop.iter().map(|pod| pod.name_any()).collect()
    }

    fn started(strategy: Strategy, states: &[&str]) -> Vec<String> {
        strategy.steps(&seats(states)).start
    }

    #[test]
    fn old_pods_that_serve_go_one_after_the_other() {
        let one = Strategy::Unavailable(1);
        assert_eq!(stopped(one, &["A-", "A-"]), ["old0"]);
        assert_eq!(stopped(one, &["-A", "A-"]), ["old1"]);
        assert!(
            stopped(one, &["-w", "A-"]).is_empty(),
            "the new one is not up yet"
        );
        assert!(stopped(one, &["--", "A-"]).is_empty(), "a node has none");
        assert_eq!(
            stopped(Strategy::Unavailable(2), &["-w", "A-", "A-"]),
            ["old1"]
        );
    }

    #[test]
    fn old_pods_that_serve_nobody_go_at_once_and_count() {
        let one = Strategy::Unavailable(1);
        assert_eq!(stopped(one, &["w-", "w-", "A-"]), ["old0", "old1"]);
    }

    #[test]
    fn with_surge_the_old_pod_goes_when_the_new_one_is_available() {
        let one = Strategy::Surge(1);
        assert_eq!(started(one, &["A-", "A-"]), ["0"]);
        assert!(stopped(one, &["A-", "A-"]).is_empty());
        assert!(started(one, &["Aw", "A-"]).is_empty());
        assert!(stopped(one, &["Aw", "A-"]).is_empty());
        assert_eq!(stopped(one, &["AA", "A-"]), ["old0"]);
        assert_eq!(started(one, &["AA", "A-"]), ["1"]);
        assert_eq!(
            started(one, &["w-", "A-"]),
            ["0", "1"],
            "a broken one is replaced besides"
        );
    }

    #[test]
    fn one_node_at_a_time_unless_the_set_says_more() {
        let strategy = |unavailable: Option<IntOrString>, surge: Option<IntOrString>| {
            let mut set = MyDaemonSet::new("web", MyDaemonSetSpec::default());
            set.spec.update_strategy.max_unavailable = unavailable;
            set.spec.update_strategy.max_surge = surge;
            Strategy::of(&set, 10)
        };
        let number = |number| Some(IntOrString::Int(number));
        let percent = |text: &str| Some(IntOrString::String(text.to_owned()));
        assert_eq!(strategy(None, None), Strategy::Unavailable(1));
        assert_eq!(strategy(number(0), number(0)), Strategy::Unavailable(1));
        assert_eq!(strategy(percent("25%"), None), Strategy::Unavailable(3));
        assert_eq!(strategy(number(3), number(2)), Strategy::Surge(2));
        assert_eq!(strategy(None, percent("1%")), Strategy::Surge(1));
    }

    /// The paths of what is wrong with a strategy, as JSON.
    fn faults(strategy: serde_json::Value) -> Vec<String> {
        let strategy: UpdateStrategy = serde_json::from_value(strategy).unwrap();
        let mut findings = Findings::default();
        check(&strategy, &mut findings);
        let faults = findings.faults();
        let path = |fault: &String| fault.split(':').next().map(str::to_owned);
        faults.iter().filter_map(path).collect()
    }

    #[test]
    fn exactly_one_of_surge_and_unavailability_is_not_zero() {
        let surge = ["spec.updateStrategy.maxSurge"];
        let unavailable = ["spec.updateStrategy.maxUnavailable"];
        for sound in [
            json!({}),
            json!({"maxSurge": 0}),
            json!({"maxSurge": "10%"}),
            json!({"maxUnavailable": 3}),
            json!({"maxUnavailable": 0, "maxSurge": 1}),
            json!({"maxUnavailable": "25%", "maxSurge": "0%"}),
        ] {
            assert_eq!(faults(sound.clone()), [""; 0], "{sound}");
        }
        assert_eq!(faults(json!({"maxUnavailable": 1, "maxSurge": 1})), surge);
        assert_eq!(faults(json!({"maxUnavailable": 0})), unavailable);
        let none = json!({"maxUnavailable": "0%", "maxSurge": 0});
        assert_eq!(faults(none), unavailable);
        assert_eq!(faults(json!({"maxSurge": "many"})), surge);
        assert_eq!(faults(json!({"maxUnavailable": -1})), unavailable);
    }
}
