//! The status of a Deployment under construction.

use serde_json::{Value, json};

use super::rollout::{Rollout, replicas, status_count};
use crate::framework::{items, null_if_zero, number, text};

/// The next status of a Deployment.
#[derive(Clone, Debug)]
pub(super) struct NewStatus {
    counts: Value,
    pub(super) conditions: Vec<Value>,
}

/// The counts of a status that are compared with the stored ones.
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
    /// The status that follows from the ReplicaSets (`calculateStatus`).
    pub(super) fn of(rollout: &Rollout, now: &str) -> Self {
        let sum = |field: &str| -> i64 { rollout.all().map(|set| status_count(set, field)).sum() };
        let wanted: i64 = rollout.all().map(|set| replicas(set)).sum();
        let available = sum("availableReplicas");
        let updated = rollout.new.iter().map(|set| status_count(set, "replicas"));
        let counts = json!({
            "observedGeneration": null_if_zero(rollout.deployment.generation()),
            "replicas": null_if_zero(sum("replicas")),
            "updatedReplicas": null_if_zero(updated.sum::<i64>()),
            "readyReplicas": null_if_zero(sum("readyReplicas")),
            "availableReplicas": null_if_zero(available),
            "unavailableReplicas": null_if_zero((wanted - available).max(0)),
            "terminatingReplicas": terminating(rollout),
        });
        let mut status = Self {
            counts,
            ..Self::unchanged(rollout)
        };
        let is_available = available >= rollout.replicas - rollout.max_unavailable();
        status.set(&DeploymentCondition::available(is_available), now);
        status
    }

    /// The stored conditions, and no counts.
    pub(super) fn unchanged(rollout: &Rollout) -> Self {
        Self {
            counts: json!({}),
            conditions: items(rollout.deployment.value(), "/status/conditions").to_vec(),
        }
    }

    pub(super) fn count(&self, field: &str) -> i64 {
        self.counts[field].as_i64().unwrap_or_default()
    }

    /// Sets a condition. A condition with the same status and reason is left alone
    /// (`SetDeploymentCondition`).
    pub(super) fn set(&mut self, new: &DeploymentCondition, now: &str) {
        let old = self.find(new.kind);
        if old.is_some_and(|old| {
            text(old, "/status") == new.status && text(old, "/reason") == new.reason
        }) {
            return;
        }
        let same_status = old.filter(|old| text(old, "/status") == new.status);
        let since = same_status.map_or(now, |old| text(old, "/lastTransitionTime"));
        let value = new.to_value(now, since);
        self.replace(new.kind, value);
    }

    /// Appends a condition in place of that of its type.
    pub(super) fn replace(&mut self, kind: &str, value: Value) {
        self.remove(kind);
        self.conditions.push(value);
    }

    pub(super) fn remove(&mut self, kind: &str) {
        self.conditions
            .retain(|condition| text(condition, "/type") != kind);
    }

    pub(super) fn find(&self, kind: &str) -> Option<&Value> {
        let mut conditions = self.conditions.iter();
        conditions.find(|condition| text(condition, "/type") == kind)
    }

    /// The status as a merge patch; `None` when it equals the stored one.
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
        // Unlike the other counts, a zero of this one is stored.
        let is_terminating_stored = value.pointer("/status/terminatingReplicas").is_some()
            || self
                .counts
                .get("terminatingReplicas")
                .is_none_or(Value::is_null);
        let are_conditions_same = self.conditions == items(value, "/status/conditions");
        if COUNTS.iter().all(is_same) && is_terminating_stored && are_conditions_same {
            return None;
        }
        let mut patch = self.counts;
        patch["conditions"] = self.conditions.into();
        Some(patch)
    }
}

/// A condition to set.
#[derive(Clone, Debug)]
pub(super) struct DeploymentCondition {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl DeploymentCondition {
    /// The condition `Available`.
    fn available(is_available: bool) -> Self {
        let (status, reason, message) = if is_available {
            let message = "Deployment has minimum availability.";
            ("True", "MinimumReplicasAvailable", message)
        } else {
            let message = "Deployment does not have minimum availability.";
            ("False", "MinimumReplicasUnavailable", message)
        };
        Self {
            kind: "Available",
            status,
            reason,
            message: message.to_owned(),
        }
    }

    /// The condition `Progressing`.
    pub(super) fn progressing(
        status: &'static str,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind: "Progressing",
            status,
            reason,
            message: message.into(),
        }
    }

    /// The entry of `status.conditions`; `since` is the time of the last transition.
    pub(super) fn to_value(&self, now: &str, since: &str) -> Value {
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

/// The number of terminating Pods; null until every ReplicaSet has reported it.
fn terminating(rollout: &Rollout) -> Value {
    let mut sum = 0;
    for set in rollout.all() {
        match number(set.value(), "/status/terminatingReplicas") {
            Some(count) => sum += count,
            None if status_count(set, "observedGeneration") == 0 => {}
            None => return Value::Null,
        }
    }
    sum.into()
}
