use std::cmp::Reverse;
use std::sync::Arc;

use super::revision::{is_saturated, most_before};
use super::rollout::{Rollout, Strategy, counted, wanted};
use crate::view::text;
use kubewright_apiserver::store::Object;

/// A ReplicaSet and the number of Pods it is to have.
#[derive(Clone, Debug)]
pub(super) struct Resize {
    pub(super) set: Arc<Object>,
    pub(super) size: i64,
    /// Whether it is written although the size stays, to note the Deployment's.
    pub(super) is_forced: bool,
}

impl Resize {
    fn to(set: &Arc<Object>, size: i64) -> Self {
        Self {
            set: Arc::clone(set),
            size,
            is_forced: false,
        }
    }

    fn changes(&self) -> bool {
        self.is_forced || self.size != wanted(&self.set)
    }
}

/// What follows from a Deployment that was scaled, or is paused: every ReplicaSet keeps its share
/// (`scale` of pkg/controller/deployment/sync.go).
pub(super) fn rescale(rollout: &Rollout) -> Vec<Resize> {
    if let Some(only) = active_or_latest(rollout) {
        let resize = Resize::to(only, rollout.replicas);
        return Some(resize).into_iter().filter(Resize::changes).collect();
    }
    if let Some(new) = &rollout.new
        && is_saturated(rollout, new)
    {
        let old = rollout.active_old();
        return old.into_iter().map(|set| Resize::to(set, 0)).collect();
    }
    match rollout.strategy {
        Strategy::Recreate => Vec::new(),
        Strategy::Rolling { .. } => proportionally(rollout),
    }
}

/// The only ReplicaSet that is to have Pods; when none is, the newest.
fn active_or_latest(rollout: &Rollout) -> Option<&Arc<Object>> {
    let active: Vec<_> = rollout.all().filter(|set| wanted(set) > 0).collect();
    match active.as_slice() {
        [] => rollout.new.as_ref().or(rollout.old.last()),
        [only] => Some(only),
        _ => None,
    }
}

fn proportionally(rollout: &Rollout) -> Vec<Resize> {
    let mut active: Vec<_> = rollout.all().filter(|set| wanted(set) > 0).collect();
    let present: i64 = active.iter().map(|set| wanted(set)).sum();
    let allowed = match rollout.replicas {
        0 => 0,
        replicas => replicas + rollout.surge(),
    };
    let missing = allowed - present;
    let created = |set: &Arc<Object>| text(set.value(), "/metadata/creationTimestamp").to_owned();
    // The largest first; of equal ones the newer when there are Pods to add.
    match missing {
        1.. => active.sort_by_key(|set| Reverse((wanted(set), created(set)))),
        _ => active.sort_by_key(|set| (Reverse(wanted(set)), created(set))),
    }
    let mut added = 0;
    let mut resizes = Vec::new();
    for set in active {
        let share = share(rollout, set, missing, added);
        added += share;
        resizes.push(Resize {
            is_forced: true,
            ..Resize::to(set, wanted(set) + share)
        });
    }
    if let Some(largest) = resizes.first_mut() {
        largest.size = (largest.size + missing - added).max(0);
    }
    resizes
}

/// How many of the missing (or surplus) Pods are this ReplicaSet's (`GetReplicaSetProportion`).
fn share(rollout: &Rollout, set: &Object, missing: i64, added: i64) -> i64 {
    if missing == 0 || missing == added {
        return 0;
    }
    let size = wanted(set);
    let fraction = match rollout.replicas {
        0 => -size,
        replicas => {
            let before = most_before(set).filter(|most| *most != 0);
            let before = before.unwrap_or_else(|| counted(&rollout.deployment, "replicas"));
            match before {
                0 => 0,
                before => {
                    let scaled = 2 * size * (replicas + rollout.surge());
                    (scaled + before).div_euclid(2 * before) - size
                }
            }
        }
    };
    match missing {
        1.. => fraction.min(missing - added),
        _ => fraction.max(missing - added),
    }
}

/// The next step of the new ReplicaSet, if there is one (`reconcileNewReplicaSet`).
pub(super) fn grow(rollout: &Rollout) -> Option<Resize> {
    let new = rollout.new.as_ref()?;
    let present = wanted(new);
    let size = match present > rollout.replicas {
        true => rollout.replicas,
        false => rollout.next_size(present),
    };
    Some(Resize::to(new, size)).filter(Resize::changes)
}

/// The next step of the old ReplicaSets: Pods that are not available go first, then as many as
/// may be missed (`reconcileOldReplicaSets`).
pub(super) fn shrink(rollout: &Rollout) -> Vec<Resize> {
    let Some(new) = &rollout.new else {
        return Vec::new();
    };
    let old = rollout.active_old();
    let least = rollout.replicas - rollout.unavailable();
    let all: i64 = rollout.all().map(|set| wanted(set)).sum();
    let unavailable_new = wanted(new) - counted(new, "availableReplicas");
    let most = all - least - unavailable_new;
    if old.is_empty() || most <= 0 {
        return Vec::new();
    }
    let mut resizes: Vec<_> = old.iter().map(|set| Resize::to(set, wanted(set))).collect();
    let mut removed = 0;
    for resize in &mut resizes {
        let unhealthy = resize.size - counted(&resize.set, "availableReplicas");
        let count = unhealthy.clamp(0, most - removed);
        resize.size -= count;
        removed += count;
    }
    let available: i64 = rollout
        .all()
        .map(|set| counted(set, "availableReplicas"))
        .sum();
    let mut spare = (available - least).max(0);
    for resize in &mut resizes {
        let count = resize.size.min(spare);
        resize.size -= count;
        spare -= count;
    }
    resizes.retain(Resize::changes);
    resizes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Resize, Rollout, grow, rescale, shrink};
    use kubewright_apiserver::store::Object;

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    /// A ReplicaSet by its age: name, wanted, available, and the largest size noted.
    fn set(name: &str, wanted: i64, available: i64, most: i64) -> Arc<Object> {
        object(json!({
            "metadata": {
                "name": name, "creationTimestamp": name,
                "annotations": {
                    "deployment.kubernetes.io/desired-replicas": "3",
                    "deployment.kubernetes.io/max-replicas": most.to_string(),
                },
            },
            "spec": {"replicas": wanted, "template": {"spec": name}},
            "status": {"replicas": wanted, "availableReplicas": available},
        }))
    }

    fn rollout(replicas: i64, new: &str, sets: Vec<Arc<Object>>) -> Rollout {
        let deployment = json!({"spec": {"replicas": replicas, "template": {"spec": new}}});
        Rollout::read(object(deployment), sets)
    }

    fn sizes(resizes: &[Resize]) -> Vec<(&str, i64)> {
        resizes
            .iter()
            .map(|one| (one.set.name(), one.size))
            .collect()
    }

    #[test]
    fn three_pods_roll_over_one_by_one() {
        let at = |old, old_available, new, new_available| {
            let sets = vec![
                set("a", old, old_available, 4),
                set("b", new, new_available, 4),
            ];
            let rollout = rollout(3, "b", sets);
            (
                grow(&rollout).map(|one| one.size),
                sizes(&shrink(&rollout)).first().map(|(_, size)| *size),
            )
        };
        assert_eq!(at(3, 3, 0, 0), (Some(1), None));
        assert_eq!(at(3, 3, 1, 0), (None, None));
        assert_eq!(at(3, 3, 1, 1), (None, Some(2)));
        assert_eq!(at(2, 2, 1, 1), (Some(2), None));
        assert_eq!(at(2, 2, 2, 2), (None, Some(1)));
        assert_eq!(at(1, 1, 3, 3), (None, Some(0)));
        assert_eq!(at(0, 0, 3, 3), (None, None));
    }

    #[test]
    fn unavailable_pods_of_old_sets_go_first() {
        let sets = vec![set("a", 2, 0, 4), set("b", 2, 2, 4), set("c", 0, 0, 4)];
        let rollout = rollout(3, "c", sets);
        assert_eq!(sizes(&shrink(&rollout)), [("a", 1)]);
    }

    #[test]
    fn a_scaled_deployment_scales_its_only_set() {
        let rollout = rollout(5, "a", vec![set("a", 3, 3, 4)]);
        assert!(rollout.is_scaled());
        assert_eq!(sizes(&rescale(&rollout)), [("a", 5)]);
    }

    #[test]
    fn sets_grow_in_proportion_in_the_middle_of_a_rollout() {
        let rollout = rollout(10, "b", vec![set("a", 4, 4, 7), set("b", 3, 1, 7)]);
        // 13 Pods may be there; the six more are shared four to three, the rest is the larger's.
        assert_eq!(sizes(&rescale(&rollout)), [("a", 7), ("b", 6)]);
    }

    #[test]
    fn to_none_means_none() {
        let rollout = rollout(0, "b", vec![set("a", 3, 3, 4), set("b", 1, 1, 4)]);
        assert_eq!(sizes(&rescale(&rollout)), [("a", 0), ("b", 0)]);
    }
}
