//! A Deployment with its ReplicaSets, read at one time.

use std::sync::Arc;

use kubewright_apiserver::store::Object;
use serde_json::{Value, json};

use super::template::is_same_template;
use crate::framework::{Rounding, int_or_percent, number, text};

/// The annotation of a ReplicaSet with the size of its Deployment when the set was last resized.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";

/// `spec.strategy` with resolved percentages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// All old Pods are deleted before the first new one is created.
    Recreate,
    /// New Pods replace old ones step by step, within these bounds.
    RollingUpdate {
        max_surge: i64,
        max_unavailable: i64,
    },
}

/// A Deployment and its ReplicaSets.
#[derive(Clone, Debug)]
pub(super) struct Rollout {
    pub(super) deployment: Arc<Object>,
    pub(super) replicas: i64,
    pub(super) strategy: Strategy,
    /// The ReplicaSet with the Deployment's template.
    pub(super) new: Option<Arc<Object>>,
    /// The other ReplicaSets, the oldest first.
    pub(super) old: Vec<Arc<Object>>,
}

impl Rollout {
    pub(super) fn read(deployment: Arc<Object>, mut sets: Vec<Arc<Object>>) -> Self {
        sets.sort_by(|a, b| age(a).cmp(&age(b)));
        let value = deployment.value();
        let replicas = number(value, "/spec/replicas").unwrap_or(1);
        let template = value.pointer("/spec/template").unwrap_or(&Value::Null);
        let is_new = |set: &Arc<Object>| {
            let own = set.value().pointer("/spec/template");
            own.is_some_and(|own| is_same_template(own, template))
        };
        let new = sets.iter().position(is_new).map(|index| sets.remove(index));
        Self {
            strategy: strategy(value, replicas),
            replicas,
            new,
            old: sets,
            deployment,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.old.iter().chain(&self.new)
    }

    /// The old ReplicaSets with `spec.replicas` above zero.
    pub(super) fn active_old(&self) -> Vec<&Arc<Object>> {
        self.old.iter().filter(|set| replicas(set) > 0).collect()
    }

    /// How many Pods there may be beyond `spec.replicas`.
    pub(super) fn max_surge(&self) -> i64 {
        match self.strategy {
            Strategy::Recreate => 0,
            Strategy::RollingUpdate { max_surge, .. } => max_surge,
        }
    }

    /// How many Pods may be unavailable.
    pub(super) fn max_unavailable(&self) -> i64 {
        match self.strategy {
            Strategy::Recreate => 0,
            Strategy::RollingUpdate {
                max_unavailable, ..
            } => max_unavailable,
        }
    }

    /// The next size of the new ReplicaSet, which has the given size now (`NewRSNewReplicas`).
    pub(super) fn next_size(&self, present: i64) -> i64 {
        let Strategy::RollingUpdate { max_surge, .. } = self.strategy else {
            return self.replicas;
        };
        let others: i64 = self.old.iter().map(|set| replicas(set)).sum();
        let room = self.replicas + max_surge - others - present;
        match room {
            ..=0 => present,
            room => present + room.min(self.replicas - present),
        }
    }

    /// Whether `spec.replicas` has changed since the ReplicaSets were resized (`isScalingEvent`).
    pub(super) fn is_scaled(&self) -> bool {
        let mut active = self.all().filter(|set| replicas(set) > 0);
        active.any(|set| desired_before(set).is_some_and(|desired| desired != self.replicas))
    }

    /// How long the rollout may make no progress; `None` when there is no limit.
    pub(super) fn progress_deadline(&self) -> Option<i64> {
        let seconds = number(self.deployment.value(), "/spec/progressDeadlineSeconds");
        Some(seconds.unwrap_or(600)).filter(|seconds| *seconds != i64::from(i32::MAX))
    }

    /// How many old ReplicaSets are kept; `None` when all are.
    pub(super) fn history_limit(&self) -> Option<i64> {
        let limit = number(self.deployment.value(), "/spec/revisionHistoryLimit");
        Some(limit.unwrap_or(10)).filter(|limit| *limit != i64::from(i32::MAX))
    }

    pub(super) fn is_paused(&self) -> bool {
        self.deployment.value().pointer("/spec/paused") == Some(&Value::Bool(true))
    }
}

/// The sort key of ReplicaSets by age: creation time, then name.
fn age(set: &Object) -> (&str, &str) {
    (text(set.value(), "/metadata/creationTimestamp"), set.name())
}

/// `spec.replicas` of a ReplicaSet.
pub(super) fn replicas(set: &Object) -> i64 {
    number(set.value(), "/spec/replicas").unwrap_or(1)
}

/// A count of the status; zero when it is absent.
pub(super) fn status_count(object: &Object, field: &str) -> i64 {
    number(object.value(), &format!("/status/{field}")).unwrap_or_default()
}

/// The size of the Deployment when the ReplicaSet was last resized.
fn desired_before(set: &Object) -> Option<i64> {
    let annotation = set.annotation(DESIRED_REPLICAS)?;
    annotation.parse::<u32>().ok().map(i64::from)
}

/// The strategy with percentages rounded as `ResolveFenceposts` does: the surge up, the
/// unavailable Pods down, and never both to zero, because no Pod could be replaced then.
fn strategy(deployment: &Value, replicas: i64) -> Strategy {
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        return Strategy::Recreate;
    }
    let default = json!("25%");
    let bound = |field: &str, rounding| {
        let value = deployment.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
        int_or_percent(value.unwrap_or(&default), replicas, rounding).unwrap_or_default()
    };
    let max_surge = bound("maxSurge", Rounding::Up);
    let max_unavailable = match (max_surge, bound("maxUnavailable", Rounding::Down)) {
        (0, 0) => 1,
        (_, max_unavailable) => max_unavailable,
    };
    Strategy::RollingUpdate {
        max_surge,
        max_unavailable: max_unavailable.min(replicas),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_apiserver::store::Object;
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Rollout, Strategy};

    fn object(value: Value) -> Arc<Object> {
        Arc::new(Object::new(value, Revision::new(1)))
    }

    fn rollout(replicas: i64, rolling: Value, old: &[i64]) -> Rollout {
        let deployment = json!({"spec": {
            "replicas": replicas, "strategy": {"rollingUpdate": rolling},
            "template": {"spec": {"image": "new"}},
        }});
        let sets = old.iter().map(|size| {
            object(json!({"spec": {"replicas": size, "template": {"spec": {"image": "old"}}}}))
        });
        Rollout::read(object(deployment), sets.collect())
    }

    #[test]
    fn max_surge_is_rounded_up_and_max_unavailable_down() {
        for (wanted, replicas, rolling) in [
            ((1, 0), 3, json!({})),
            ((3, 2), 10, json!({})),
            ((0, 1), 3, json!({"maxSurge": 0, "maxUnavailable": "10%"})),
            ((1, 0), 1, json!({})),
            ((5, 2), 2, json!({"maxSurge": 5, "maxUnavailable": 7})),
        ] {
            let found = rollout(replicas, rolling.clone(), &[]).strategy;
            let (max_surge, max_unavailable) = wanted;
            assert_eq!(
                found,
                Strategy::RollingUpdate {
                    max_surge,
                    max_unavailable
                },
                "{replicas} {rolling}"
            );
        }
    }

    #[test]
    fn new_set_grows_as_old_sets_shrink() {
        for (wanted, old, present) in [
            (1, &[3][..], 0),
            (2, &[2], 1),
            (3, &[1], 2),
            (3, &[0], 0),
            (0, &[4], 0),
        ] {
            assert_eq!(
                rollout(3, json!({}), old).next_size(present),
                wanted,
                "{old:?} {present}"
            );
        }
    }
}
