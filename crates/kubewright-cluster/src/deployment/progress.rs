use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::rollout::{Rollout, counted};
use super::status::{Condition, NewStatus};
use crate::view::{condition, items, text};
use kubewright_apiserver::timestamp;

const PROGRESSING: &str = "Progressing";
pub(super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const DONE: &str = "NewReplicaSetAvailable";

/// The status with what is to be said of the rollout's progress (`syncRolloutStatus`).
pub(super) fn rollout_status(rollout: &Rollout, now: Timestamp) -> NewStatus {
    let time = timestamp(now);
    let mut status = NewStatus::of(rollout, &time);
    let Some(deadline) = rollout.deadline() else {
        status.remove(PROGRESSING);
        set_failure(rollout, &mut status);
        return status;
    };
    let current = condition(rollout.deployment.value(), PROGRESSING);
    let is_over = status.count("replicas") == status.count("updatedReplicas")
        && current.is_some_and(|current| text(current, "/reason") == DONE);
    if !is_over {
        let words = |what: &str| match &rollout.new {
            Some(new) => format!("ReplicaSet {:?} {what}.", new.name()),
            None => format!("Deployment {:?} {what}.", rollout.deployment.name()),
        };
        let say = |status, reason, what| Condition {
            kind: PROGRESSING,
            status,
            reason,
            message: words(what),
        };
        if is_complete(rollout, &status) {
            status.set(&say("True", DONE, "has successfully progressed"), &time);
        } else if is_progress(rollout, &status) {
            // Said anew even if it was said before: from now on the deadline counts.
            let news = say("True", "ReplicaSetUpdated", "is progressing");
            let kept = current.filter(|current| text(current, "/status") == "True");
            let since = kept.map_or(time.as_str(), |current| {
                text(current, "/lastTransitionTime")
            });
            let written = news.write(&time, since);
            status.remove(PROGRESSING);
            status.conditions.push(written);
        } else if is_timed_out(status.find(PROGRESSING), deadline, now) {
            status.set(&say("False", TIMED_OUT, "has timed out progressing"), &time);
        }
    }
    set_failure(rollout, &mut status);
    status
}

/// Whether the rollout is done (`DeploymentComplete`).
fn is_complete(rollout: &Rollout, status: &NewStatus) -> bool {
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| status.count(field) == rollout.replicas)
}

/// Whether the stored status says that the rollout is done.
pub(super) fn was_complete(rollout: &Rollout) -> bool {
    let deployment = &rollout.deployment;
    ["updatedReplicas", "replicas", "availableReplicas"]
        .iter()
        .all(|field| counted(deployment, field) == rollout.replicas)
        && counted(deployment, "observedGeneration") >= deployment.generation()
}

/// Whether anything has become better since the stored status (`DeploymentProgressing`).
fn is_progress(rollout: &Rollout, new: &NewStatus) -> bool {
    let old = |field: &str| counted(&rollout.deployment, field);
    let grew = |field: &str| new.count(field) > old(field);
    let left = new.count("replicas") - new.count("updatedReplicas");
    grew("updatedReplicas")
        || left < old("replicas") - old("updatedReplicas")
        || grew("readyReplicas")
        || grew("availableReplicas")
}

fn is_timed_out(progressing: Option<&Value>, deadline: i64, now: Timestamp) -> bool {
    let Some(condition) = progressing else {
        return false;
    };
    match text(condition, "/reason") {
        DONE => false,
        TIMED_OUT => true,
        _ => time_left(condition, deadline, now).is_zero(),
    }
}

/// How long until the rollout counts as stuck; none when it does not or already does.
pub(super) fn time_to_deadline(rollout: &Rollout, now: Timestamp) -> Option<Duration> {
    let deadline = rollout.deadline()?;
    let condition = condition(rollout.deployment.value(), PROGRESSING)?;
    if was_complete(rollout) || matches!(text(condition, "/reason"), TIMED_OUT | DONE) {
        return None;
    }
    Some(time_left(condition, deadline, now))
}

/// Times in conditions have no fractions: the deadline is over a second later than written.
fn time_left(condition: &Value, deadline: i64, now: Timestamp) -> Duration {
    let Ok(since) = text(condition, "/lastUpdateTime").parse::<Timestamp>() else {
        return Duration::ZERO;
    };
    let end = since.checked_add(SignedDuration::from_secs(deadline + 1));
    let left = end.map(|end| end.duration_since(now));
    left.ok()
        .and_then(|left| Duration::try_from(left).ok())
        .unwrap_or_default()
}

/// What keeps a ReplicaSet from making its Pods is told of the Deployment too.
fn set_failure(rollout: &Rollout, status: &mut NewStatus) {
    const FAILURE: &str = "ReplicaFailure";
    let sets = rollout.new.iter().chain(&rollout.old);
    let failure = sets
        .flat_map(|set| items(set.value(), "/status/conditions"))
        .find(|one| text(one, "/type") == FAILURE);
    let Some(failure) = failure else {
        status.remove(FAILURE);
        return;
    };
    let is_said =
        |old: &Value| old["status"] == failure["status"] && old["reason"] == failure["reason"];
    if status.find(FAILURE).is_some_and(is_said) {
        return;
    }
    let mut told = failure.clone();
    told["lastUpdateTime"] = failure["lastTransitionTime"].clone();
    status.remove(FAILURE);
    status.conditions.push(told);
}

/// The condition that a Deployment gets when it is paused, and when it goes on; none when that is
/// said already (`checkPausedConditions`).
pub(super) fn pause_condition(rollout: &Rollout) -> Option<Condition> {
    const PAUSED: &str = "DeploymentPaused";
    rollout.deadline()?;
    let current = condition(rollout.deployment.value(), PROGRESSING);
    let reason = current.map_or("", |current| text(current, "/reason"));
    let (reason, message) = match (rollout.is_paused(), reason) {
        (_, TIMED_OUT) | (true, PAUSED) => return None,
        (true, _) => (PAUSED, "Deployment is paused"),
        (false, PAUSED) => ("DeploymentResumed", "Deployment is resumed"),
        (false, _) => return None,
    };
    Some(Condition {
        kind: PROGRESSING,
        status: "Unknown",
        reason,
        message: message.to_owned(),
    })
}
