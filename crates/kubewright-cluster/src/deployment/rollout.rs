use std::sync::Arc;

use serde_json::{Value, json};

use super::revision::is_same_template;
use crate::portion::{Rounding, portion};
use crate::view::{number, text};
use kubewright_apiserver::store::Object;

/// How one ReplicaSet follows the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// All old Pods go before the first new one comes.
    Recreate,
    /// Step by step, with so many Pods more, and so many fewer available, than asked for.
    Rolling { surge: i64, unavailable: i64 },
}

/// A Deployment and its ReplicaSets, as they are at one time.
#[derive(Clone, Debug)]
pub(super) struct Rollout {
    pub(super) deployment: Arc<Object>,
    pub(super) replicas: i64,
    pub(super) strategy: Strategy,
    /// The ReplicaSet with the Deployment's own template.
    pub(super) new: Option<Arc<Object>>,
    /// The others, the oldest first.
    pub(super) old: Vec<Arc<Object>>,
}

impl Rollout {
    pub(super) fn read(deployment: Arc<Object>, mut sets: Vec<Arc<Object>>) -> Self {
        sets.sort_by(|one, two| age(one).cmp(&age(two)));
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

    /// The old ones that are to have Pods.
    pub(super) fn active_old(&self) -> Vec<&Arc<Object>> {
        self.old.iter().filter(|set| wanted(set) > 0).collect()
    }

    /// The most Pods that there may be beside those that are asked for.
    pub(super) fn surge(&self) -> i64 {
        match self.strategy {
            Strategy::Recreate => 0,
            Strategy::Rolling { surge, .. } => surge,
        }
    }

    /// The most Pods that may be unavailable.
    pub(super) fn unavailable(&self) -> i64 {
        match self.strategy {
            Strategy::Recreate => 0,
            Strategy::Rolling { unavailable, .. } => unavailable,
        }
    }

    /// How many Pods the new ReplicaSet, which asks for so many, may ask for
    /// (`NewRSNewReplicas`).
    pub(super) fn next_size(&self, present: i64) -> i64 {
        let Strategy::Rolling { surge, .. } = self.strategy else {
            return self.replicas;
        };
        let others: i64 = self.old.iter().map(|set| wanted(set)).sum();
        let room = self.replicas + surge - others - present;
        match room {
            ..=0 => present,
            room => present + room.min(self.replicas - present),
        }
    }

    /// Whether the number of Pods that is asked for has changed since the ReplicaSets were sized.
    pub(super) fn is_scaled(&self) -> bool {
        let mut active = self.all().filter(|set| wanted(set) > 0);
        active.any(|set| desired(set).is_some_and(|desired| desired != self.replicas))
    }

    /// How long the rollout may take to go on; none when for ever.
    pub(super) fn deadline(&self) -> Option<i64> {
        let seconds = number(self.deployment.value(), "/spec/progressDeadlineSeconds");
        Some(seconds.unwrap_or(600)).filter(|seconds| *seconds != i64::from(i32::MAX))
    }

    /// How many old ReplicaSets are kept; none when all.
    pub(super) fn history(&self) -> Option<i64> {
        let limit = number(self.deployment.value(), "/spec/revisionHistoryLimit");
        Some(limit.unwrap_or(10)).filter(|limit| *limit != i64::from(i32::MAX))
    }

    pub(super) fn is_paused(&self) -> bool {
        self.deployment.value().pointer("/spec/paused") == Some(&Value::Bool(true))
    }
}

/// When the ReplicaSet was made, then its name.
fn age(set: &Object) -> (&str, &str) {
    (text(set.value(), "/metadata/creationTimestamp"), set.name())
}

/// How many Pods a ReplicaSet is asked for.
pub(super) fn wanted(set: &Object) -> i64 {
    number(set.value(), "/spec/replicas").unwrap_or(1)
}

/// A count in a status.
pub(super) fn counted(object: &Object, field: &str) -> i64 {
    number(object.value(), &format!("/status/{field}")).unwrap_or_default()
}

/// The size of the Deployment when the ReplicaSet was last sized.
fn desired(set: &Object) -> Option<i64> {
    let noted = set.annotation("deployment.kubernetes.io/desired-replicas")?;
    noted.parse::<u32>().ok().map(i64::from)
}

/// As `ResolveFenceposts` rounds: up for more Pods, down for fewer, and never both to nothing.
fn strategy(deployment: &Value, replicas: i64) -> Strategy {
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        return Strategy::Recreate;
    }
    let quarter = json!("25%");
    let written = |field: &str| {
        let found = deployment.pointer(&format!("/spec/strategy/rollingUpdate/{field}"));
        found.unwrap_or(&quarter)
    };
    let surge = portion(written("maxSurge"), replicas, Rounding::Up).unwrap_or_default();
    let unavailable = portion(written("maxUnavailable"), replicas, Rounding::Down);
    let unavailable = match (surge, unavailable.unwrap_or_default()) {
        (0, 0) => 1,
        (_, unavailable) => unavailable,
    };
    Strategy::Rolling {
        surge,
        unavailable: unavailable.min(replicas),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Rollout, Strategy};
    use kubewright_apiserver::store::Object;

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
    fn a_quarter_more_is_rounded_up_and_a_quarter_fewer_down() {
        for (wanted, replicas, rolling) in [
            ((1, 0), 3, json!({})),
            ((3, 2), 10, json!({})),
            ((0, 1), 3, json!({"maxSurge": 0, "maxUnavailable": "10%"})),
            ((1, 0), 1, json!({})),
            ((5, 2), 2, json!({"maxSurge": 5, "maxUnavailable": 7})),
        ] {
            let found = rollout(replicas, rolling.clone(), &[]).strategy;
            let (surge, unavailable) = wanted;
            assert_eq!(
                found,
                Strategy::Rolling { surge, unavailable },
                "{replicas} {rolling}"
            );
        }
    }

    #[test]
    fn the_new_set_grows_into_the_room_that_the_old_ones_leave() {
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
