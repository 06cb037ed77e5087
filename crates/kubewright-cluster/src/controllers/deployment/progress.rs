//! The condition `Progressing` of a Deployment, and its deadline.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kubewright_apiserver::timestamp;
use serde_json::Value;

use super::rollout::{Rollout, status_count};
use super::status::{DeploymentCondition, NewStatus};
use crate::framework::{condition, items, text};

const PROGRESSING: &str = "Progressing";
const REPLICA_FAILURE: &str = "ReplicaFailure";
/// Reasons of the condition `Progressing`.
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const COMPLETE: &str = "NewReplicaSetAvailable";
const PAUSED: &str = "DeploymentPaused";

/// The status with the progress of the rollout (`syncRolloutStatus`).
pub(super) fn rollout_status(rollout: &Rollout, now: Timestamp) -> NewStatus {
    let mut status = NewStatus::of(rollout, &timestamp(now));
    match rollout.progress_deadline() {
        None => status.remove(PROGRESSING),
        Some(deadline) => set_progress(rollout, &mut status, deadline, now),
    }
    set_replica_failure(rollout, &mut status);
    status
}

fn set_progress(rollout: &Rollout, status: &mut NewStatus, deadline: i64, now: Timestamp) {
    let time = timestamp(now);
    let current = condition(rollout.deployment.value(), PROGRESSING);
    let is_over = status.count("replicas") == status.count("updatedReplicas")
        && current.is_some_and(|current| text(current, "/reason") == COMPLETE);
    if is_over {
        return;
    }
    let message = |what: &str| match &rollout.new {
        Some(new) => format!("ReplicaSet {:?} {what}.", new.name()),
        None => format!("Deployment {:?} {what}.", rollout.deployment.name()),
    };
    if is_complete(rollout, status) {
        let message = message("has successfully progressed");
        status.set(
            &DeploymentCondition::progressing("True", COMPLETE, message),
            &time,
        );
    } else if is_progress(rollout, status) {
        // Written even if status and reason are unchanged: the deadline runs from the update time.
        let message = message("is progressing");
        let new = DeploymentCondition::progressing("True", "ReplicaSetUpdated", message);
        let same_status = current.filter(|current| text(current, "/status") == "True");
        let since = same_status.map_or(time.as_str(), |current| {
            text(current, "/lastTransitionTime")
        });
        status.replace(PROGRESSING, new.to_value(&time, since));
    } else if is_timed_out(status.find(PROGRESSING), deadline, now) {
        let message = message("has timed out progressing");
        status.set(
            &DeploymentCondition::progressing("False", TIMED_OUT, message),
            &time,
        );
    }
}

/// Whether the rollout is complete (`DeploymentComplete`).
fn is_complete(rollout: &Rollout, status: &NewStatus) -> bool {
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| status.count(field) == rollout.replicas)
}

/// Whether the rollout is complete according to the stored status.
pub(super) fn was_complete(rollout: &Rollout) -> bool {
    let deployment = &rollout.deployment;
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| status_count(deployment, field) == rollout.replicas)
        && status_count(deployment, "observedGeneration") >= deployment.generation()
}

/// Whether the rollout has progressed since the stored status (`DeploymentProgressing`).
fn is_progress(rollout: &Rollout, new: &NewStatus) -> bool {
    let old = |field: &str| status_count(&rollout.deployment, field);
    let has_grown = |field: &str| new.count(field) > old(field);
    let old_pods = new.count("replicas") - new.count("updatedReplicas");
    has_grown("updatedReplicas")
        || old_pods < old("replicas") - old("updatedReplicas")
        || has_grown("readyReplicas")
        || has_grown("availableReplicas")
}

fn is_timed_out(progressing: Option<&Value>, deadline: i64, now: Timestamp) -> bool {
    let Some(condition) = progressing else {
        return false;
    };
    match text(condition, "/reason") {
        COMPLETE => false,
        TIMED_OUT => true,
        _ => time_left(condition, deadline, now).is_zero(),
    }
}

/// How long until the rollout times out; `None` when it cannot, or has already.
pub(super) fn time_to_deadline(rollout: &Rollout, now: Timestamp) -> Option<Duration> {
    let deadline = rollout.progress_deadline()?;
    let condition = condition(rollout.deployment.value(), PROGRESSING)?;
    if was_complete(rollout) || matches!(text(condition, "/reason"), TIMED_OUT | COMPLETE) {
        return None;
    }
    Some(time_left(condition, deadline, now))
}

/// Times of conditions are whole seconds, so that the deadline is a second later than written.
fn time_left(condition: &Value, deadline: i64, now: Timestamp) -> Duration {
    let Ok(since) = text(condition, "/lastUpdateTime").parse::<Timestamp>() else {
        return Duration::ZERO;
    };
    since
        .checked_add(SignedDuration::from_secs(deadline + 1))
        .ok()
        .and_then(|end| Duration::try_from(end.duration_since(now)).ok())
        .unwrap_or_default()
}

/// Copies the failure of a ReplicaSet to create its Pods, or removes it.
fn set_replica_failure(rollout: &Rollout, status: &mut NewStatus) {
    let sets = rollout.new.iter().chain(&rollout.old);
    let failure = sets
        .flat_map(|set| items(set.value(), "/status/conditions"))
        .find(|condition| text(condition, "/type") == REPLICA_FAILURE);
    let Some(failure) = failure else {
        status.remove(REPLICA_FAILURE);
        return;
    };
    let is_set =
        |old: &Value| old["status"] == failure["status"] && old["reason"] == failure["reason"];
    if status.find(REPLICA_FAILURE).is_some_and(is_set) {
        return;
    }
    let mut copied = failure.clone();
    copied["lastUpdateTime"] = failure["lastTransitionTime"].clone();
    status.replace(REPLICA_FAILURE, copied);
}

/// The condition of a Deployment that was just paused or resumed; `None` when it has it already
/// (`checkPausedConditions`).
pub(super) fn pause_condition(rollout: &Rollout) -> Option<DeploymentCondition> {
    rollout.progress_deadline()?;
    let current = condition(rollout.deployment.value(), PROGRESSING);
    let old_reason = current.map_or("", |current| text(current, "/reason"));
    let (reason, message) = match (rollout.is_paused(), old_reason) {
        (_, TIMED_OUT) | (true, PAUSED) => return None,
        (true, _) => (PAUSED, "Deployment is paused"),
        (false, PAUSED) => ("DeploymentResumed", "Deployment is resumed"),
        (false, _) => return None,
    };
    Some(DeploymentCondition::progressing("Unknown", reason, message))
}
