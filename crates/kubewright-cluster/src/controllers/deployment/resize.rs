//! The next sizes of the ReplicaSets of a Deployment.

use std::cmp::Reverse;
use std::sync::Arc;

use kubewright_apiserver::store::Object;

use super::revision::max_replicas_before;
use super::rollout::{DESIRED_REPLICAS, Rollout, Strategy, replicas, status_count};
use crate::framework::text;

/// A ReplicaSet and its next size.
#[derive(Clone, Debug)]
pub(super) struct Resize {
    pub(super) set: Arc<Object>,
    pub(super) size: i64,
    /// Whether the annotations with the Deployment's size are written even if the set's size is
    /// unchanged.
    pub(super) is_forced: bool,
}

impl Resize {
    pub(super) fn to(set: &Arc<Object>, size: i64) -> Self {
        Self {
            set: Arc::clone(set),
            size,
            is_forced: false,
        }
    }

    fn is_change(&self) -> bool {
        self.is_forced || self.size != replicas(&self.set)
    }
}

/// The resizes of a Deployment that was scaled or is paused: every ReplicaSet keeps its share
/// (`scale` of pkg/controller/deployment/sync.go).
pub(super) fn rescale(rollout: &Rollout) -> Vec<Resize> {
    if let Some(only) = active_or_latest(rollout) {
        let resize = Resize::to(only, rollout.replicas);
        return Some(resize).into_iter().filter(Resize::is_change).collect();
    }
    if let Some(new) = &rollout.new
        && is_saturated(rollout, new)
    {
        let old = rollout.active_old();
        return old.into_iter().map(|set| Resize::to(set, 0)).collect();
    }
    match rollout.strategy {
        Strategy::Recreate => Vec::new(),
        Strategy::RollingUpdate { .. } => proportional(rollout),
    }
}

/// The only active ReplicaSet; when none is active, the newest (`FindActiveOrLatest`).
fn active_or_latest(rollout: &Rollout) -> Option<&Arc<Object>> {
    let active: Vec<_> = rollout.all().filter(|set| replicas(set) > 0).collect();
    match active.as_slice() {
        [] => rollout.new.as_ref().or(rollout.old.last()),
        [only] => Some(only),
        _ => None,
    }
}

/// Whether the ReplicaSet has all Pods of the Deployment (`IsSaturated`).
fn is_saturated(rollout: &Rollout, set: &Object) -> bool {
    let annotation = set.annotation(DESIRED_REPLICAS);
    let desired = annotation.and_then(|annotation| annotation.parse().ok());
    replicas(set) == rollout.replicas
        && desired == Some(rollout.replicas)
        && status_count(set, "availableReplicas") == rollout.replicas
}

fn proportional(rollout: &Rollout) -> Vec<Resize> {
    let mut active: Vec<_> = rollout.all().filter(|set| replicas(set) > 0).collect();
    let present: i64 = active.iter().map(|set| replicas(set)).sum();
    let allowed = match rollout.replicas {
        0 => 0,
        replicas => replicas + rollout.max_surge(),
    };
    let missing = allowed - present;
    let created = |set: &Arc<Object>| text(set.value(), "/metadata/creationTimestamp").to_owned();
    // The largest set is first. Of equal sets, the newer is first when Pods are added.
    match missing {
        1.. => active.sort_by_key(|set| Reverse((replicas(set), created(set)))),
        _ => active.sort_by_key(|set| (Reverse(replicas(set)), created(set))),
    }
    let mut added = 0;
    let mut resizes = Vec::new();
    for set in active {
        let share = share(rollout, set, missing, added);
        added += share;
        resizes.push(Resize {
            is_forced: true,
            ..Resize::to(set, replicas(set) + share)
        });
    }
    if let Some(largest) = resizes.first_mut() {
        largest.size = (largest.size + missing - added).max(0);
    }
    resizes
}

/// How many of the missing (or surplus) Pods this ReplicaSet gets, after others have got `added`
/// (`GetReplicaSetProportion`).
fn share(rollout: &Rollout, set: &Object, missing: i64, added: i64) -> i64 {
    if missing == 0 || missing == added {
        return 0;
    }
    let fraction = fraction(rollout, set);
    match missing {
        1.. => fraction.min(missing - added),
        _ => fraction.max(missing - added),
    }
}

/// How many Pods this ReplicaSet gains or loses to keep its share of the Deployment
/// (`getReplicaSetFraction`).
fn fraction(rollout: &Rollout, set: &Object) -> i64 {
    let size = replicas(set);
    if rollout.replicas == 0 {
        return -size;
    }
    let max_before = max_replicas_before(set)
        .filter(|max| *max != 0)
        .unwrap_or_else(|| status_count(&rollout.deployment, "replicas"));
    if max_before == 0 {
        return 0;
    }
    // The nearest integer of size * (replicas + surge) / max_before.
    let scaled = 2 * size * (rollout.replicas + rollout.max_surge());
    (scaled + max_before).div_euclid(2 * max_before) - size
}

/// The next resize of the new ReplicaSet (`reconcileNewReplicaSet`).
pub(super) fn grow(rollout: &Rollout) -> Option<Resize> {
    let new = rollout.new.as_ref()?;
    let present = replicas(new);
    let size = if present > rollout.replicas {
        rollout.replicas
    } else {
        rollout.next_size(present)
    };
    Some(Resize::to(new, size)).filter(Resize::is_change)
}

/// The next resizes of the old ReplicaSets: unavailable Pods are removed first, then as many as
/// `maxUnavailable` allows (`reconcileOldReplicaSets`).
pub(super) fn shrink(rollout: &Rollout) -> Vec<Resize> {
    let Some(new) = &rollout.new else {
        return Vec::new();
    };
    let old = rollout.active_old();
    let min_available = rollout.replicas - rollout.max_unavailable();
    let all: i64 = rollout.all().map(|set| replicas(set)).sum();
    let unavailable_new = replicas(new) - status_count(new, "availableReplicas");
    let max_removed = all - min_available - unavailable_new;
    if old.is_empty() || max_removed <= 0 {
        return Vec::new();
    }
    let mut resizes: Vec<_> = old
        .iter()
        .map(|set| Resize::to(set, replicas(set)))
        .collect();
    let mut removed = 0;
    for resize in &mut resizes {
        let unavailable = resize.size - status_count(&resize.set, "availableReplicas");
        let count = unavailable.clamp(0, max_removed - removed);
        resize.size -= count;
        removed += count;
    }
    let available: i64 = rollout
        .all()
        .map(|set| status_count(set, "availableReplicas"))
        .sum();
    let mut spare = (available - min_available).max(0);
    for resize in &mut resizes {
        let count = resize.size.min(spare);
        resize.size -= count;
        spare -= count;
    }
    resizes.retain(Resize::is_change);
    resizes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Resize, Rollout, grow, rescale, shrink};

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    /// A ReplicaSet whose name is its creation time; `max` is the annotation `max-replicas`.
    fn set(name: &str, size: i64, available: i64, max: i64) -> Arc<Object> {
        object(json!({
            "metadata": {
                "name": name, "creationTimestamp": name,
                "annotations": {
                    "deployment.kubernetes.io/desired-replicas": "3",
                    "deployment.kubernetes.io/max-replicas": max.to_string(),
                },
            },
            "spec": {"replicas": size, "template": {"spec": name}},
            "status": {"replicas": size, "availableReplicas": available},
        }))
    }

    fn rollout(replicas: i64, new: &str, sets: Vec<Arc<Object>>) -> Rollout {
        let deployment = json!({"spec": {"replicas": replicas, "template": {"spec": new}}});
        Rollout::read(object(deployment), sets)
    }

    fn sizes(resizes: &[Resize]) -> Vec<(&str, i64)> {
        resizes
            .iter()
            .map(|resize| (resize.set.name(), resize.size))
            .collect()
    }

    #[test]
    fn rolling_update_replaces_three_pods_one_by_one() {
        let at = |old, old_available, new, new_available| {
            let sets = vec![
                set("a", old, old_available, 4),
                set("b", new, new_available, 4),
            ];
            let rollout = rollout(3, "b", sets);
            (
                grow(&rollout).map(|resize| resize.size),
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
    fn unavailable_pods_of_old_sets_are_removed_first() {
        let sets = vec![set("a", 2, 0, 4), set("b", 2, 2, 4), set("c", 0, 0, 4)];
        let rollout = rollout(3, "c", sets);
        assert_eq!(sizes(&shrink(&rollout)), [("a", 1)]);
    }

    #[test]
    fn scaled_deployment_scales_its_only_set() {
        let rollout = rollout(5, "a", vec![set("a", 3, 3, 4)]);
        assert!(rollout.is_scaled());
        assert_eq!(sizes(&rescale(&rollout)), [("a", 5)]);
    }

    #[test]
    fn scaling_during_a_rollout_is_proportional() {
        let rollout = rollout(10, "b", vec![set("a", 4, 4, 7), set("b", 3, 1, 7)]);
        // 13 Pods are allowed. The six new ones are shared four to three, and the larger set gets
        // the rest.
        assert_eq!(sizes(&rescale(&rollout)), [("a", 7), ("b", 6)]);
    }

    #[test]
    fn scaling_to_zero_scales_all_sets_to_zero() {
        let rollout = rollout(0, "b", vec![set("a", 3, 3, 4), set("b", 1, 1, 4)]);
        assert_eq!(sizes(&rescale(&rollout)), [("a", 0), ("b", 0)]);
    }
}
