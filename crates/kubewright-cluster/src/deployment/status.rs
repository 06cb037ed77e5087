use serde_json::{Value, json};

use super::rollout::{Rollout, counted, wanted};
use crate::view::{items, number, text, unless_zero};

/// A Deployment's status under construction.
#[derive(Clone, Debug)]
pub(super) struct NewStatus {
    counts: Value,
    pub(super) conditions: Vec<Value>,
}

/// The counts that a status has, in the order in which they are looked at.
const COUNTS: [&str; 7] = [
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
];

impl NewStatus {
    /// What follows from the ReplicaSets (`calculateStatus`).
    pub(super) fn of(rollout: &Rollout, now: &str) -> Self {
        let sum = |field: &str| -> i64 { rollout.all().map(|set| counted(set, field)).sum() };
        let asked: i64 = rollout.all().map(|set| wanted(set)).sum();
        let available = sum("availableReplicas");
        let updated: i64 = rollout.new.iter().map(|set| counted(set, "replicas")).sum();
        let counts = json!({
            "observedGeneration": unless_zero(rollout.deployment.generation()),
            "replicas": unless_zero(sum("replicas")),
            "updatedReplicas": unless_zero(updated),
            "readyReplicas": unless_zero(sum("readyReplicas")),
            "availableReplicas": unless_zero(available),
            "unavailableReplicas": unless_zero((asked - available).max(0)),
            "terminatingReplicas": terminating(rollout),
        });
        let mut status = Self {
            counts,
            conditions: items(rollout.deployment.value(), "/status/conditions").to_vec(),
        };
        let condition = match available >= rollout.replicas - rollout.unavailable() {
            true => Condition {
                kind: "Available",
                status: "True",
                reason: "MinimumReplicasAvailable",
                message: "Deployment has minimum availability.".to_owned(),
            },
            false => Condition {
                kind: "Available",
                status: "False",
                reason: "MinimumReplicasUnavailable",
                message: "Deployment does not have minimum availability.".to_owned(),
            },
        };
        status.set(&condition, now);
        status
    }

    /// Only the conditions change.
    pub(super) fn unchanged(rollout: &Rollout) -> Self {
        Self {
            counts: json!({}),
            conditions: items(rollout.deployment.value(), "/status/conditions").to_vec(),
        }
    }

    pub(super) fn count(&self, field: &str) -> i64 {
        self.counts[field].as_i64().unwrap_or_default()
    }

    /// Sets a condition; one with the same status and reason stays as it is.
    pub(super) fn set(&mut self, new: &Condition, now: &str) {
        let old = self.find(new.kind);
        if old.is_some_and(|old| {
            text(old, "/status") == new.status && text(old, "/reason") == new.reason
        }) {
            return;
        }
        let kept = old.filter(|old| text(old, "/status") == new.status);
        let since = kept.map_or(now, |old| text(old, "/lastTransitionTime"));
        let written = new.write(now, since);
        self.remove(new.kind);
        self.conditions.push(written);
    }

    pub(super) fn remove(&mut self, kind: &str) {
        self.conditions.retain(|one| text(one, "/type") != kind);
    }

    pub(super) fn find(&self, kind: &str) -> Option<&Value> {
        let mut conditions = self.conditions.iter();
        conditions.find(|one| text(one, "/type") == kind)
    }

    /// The status as a patch; none when it says nothing new.
    pub(super) fn patch(self, rollout: &Rollout) -> Option<Value> {
        let value = rollout.deployment.value();
        let stored = |field: &str| number(value, &format!("/status/{field}"));
        let is_same = |field: &&str| match self.counts.get(field) {
            None => true,
            Some(count) => {
                count.as_i64().filter(|count| *count != 0)
                    == stored(field).filter(|count| *count != 0)
            }
        };
        let is_counted = value.pointer("/status/terminatingReplicas").is_some()
            || self
                .counts
                .get("terminatingReplicas")
                .is_none_or(Value::is_null);
        let are_same = self.conditions == items(value, "/status/conditions");
        if COUNTS.iter().all(is_same) && is_counted && are_same {
            return None;
        }
        let mut patch = self.counts;
        patch["conditions"] = self.conditions.into();
        Some(patch)
    }
}

/// A condition to be set.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Condition {
    pub(super) fn write(&self, now: &str, since: &str) -> Value {
        json!({
            "type": self.kind,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "lastUpdateTime": now,
            "lastTransitionTime": since,
        })
    }
}

/// How many Pods are ending; null as long as a ReplicaSet has not said it.
fn terminating(rollout: &Rollout) -> Value {
    let mut sum = 0;
    for set in rollout.all() {
        match number(set.value(), "/status/terminatingReplicas") {
            Some(count) => sum += count,
            None if counted(set, "observedGeneration") == 0 => {}
            None => return Value::Null,
        }
    }
    sum.into()
}
