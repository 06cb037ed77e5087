//! Writes of a Deployment and its ReplicaSets.

use kubewright_apiserver::store::Object;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::resize::{Resize, rescale};
use super::revision::{revision, size_annotations};
use super::rollout::{Rollout, replicas, status_count};
use super::status::{DeploymentCondition, NewStatus};
use crate::framework::{Client, DEPLOYMENTS, DeleteOptions, NewEvent, REPLICA_SETS, status_patch};

/// Records that a Deployment selects all Pods, and does nothing else with it: it would adopt Pods
/// that belong to others.
pub(super) async fn reject_empty_selector(
    client: &Client,
    deployment: &Object,
) -> Result<(), Status> {
    let message = "This deployment is selecting all pods. A non-empty selector is required.";
    let event = NewEvent::warning("SelectingAll", message);
    client.record_event(&DEPLOYMENTS, deployment, event).await;
    let generation = deployment.generation();
    if status_count(deployment, "observedGeneration") >= generation {
        return Ok(());
    }
    let status = json!({"observedGeneration": generation});
    let patch = status_patch(deployment.value(), &status);
    client.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// Resizes the ReplicaSets of a Deployment that was scaled or is paused.
pub(super) async fn sync_scale(client: &Client, rollout: &Rollout) -> Result<(), Status> {
    for resize in rescale(rollout) {
        apply_resize(client, rollout, &resize).await?;
    }
    if rollout.is_paused() {
        clean_up(client, rollout).await?;
    }
    let status = NewStatus::of(rollout, &client.timestamp());
    write_status(client, rollout, status).await.map(drop)
}

/// Writes the size of a ReplicaSet, and the annotations with that of the Deployment.
pub(super) async fn apply_resize(
    client: &Client,
    rollout: &Rollout,
    resize: &Resize,
) -> Result<(), Status> {
    let set = &resize.set;
    let before = replicas(set);
    let annotations = size_annotations(rollout);
    let is_present = |(key, value): (&String, &Value)| set.annotation(key) == value.as_str();
    if before == resize.size && (!resize.is_forced || annotations.iter().all(is_present)) {
        return Ok(());
    }
    let patch = json!({
        "metadata": {
            "resourceVersion": set.revision().to_string(),
            "annotations": annotations,
        },
        "spec": {"replicas": resize.size},
    });
    client.patch(&REPLICA_SETS, set, patch).await?;
    if before != resize.size {
        let direction = if before < resize.size { "up" } else { "down" };
        let message = format!(
            "Scaled {direction} replica set {} from {before} to {}",
            set.name(),
            resize.size
        );
        let event = NewEvent::normal("ScalingReplicaSet", message);
        client
            .record_event(&DEPLOYMENTS, &rollout.deployment, event)
            .await;
    }
    Ok(())
}

/// Deletes old ReplicaSets beyond `spec.revisionHistoryLimit` (`cleanupDeployment`).
pub(super) async fn clean_up(client: &Client, rollout: &Rollout) -> Result<(), Status> {
    let Some(limit) = rollout.history_limit() else {
        return Ok(());
    };
    let mut sets: Vec<_> = rollout
        .old
        .iter()
        .filter(|set| !set.is_terminating())
        .collect();
    let surplus = sets
        .len()
        .saturating_sub(usize::try_from(limit).unwrap_or_default());
    sets.sort_by_key(|set| revision(set).unwrap_or_default());
    for set in sets.into_iter().take(surplus) {
        let is_used = status_count(set, "replicas") != 0
            || replicas(set) != 0
            || set.generation() > status_count(set, "observedGeneration");
        if is_used {
            continue;
        }
        let options = DeleteOptions {
            uid: set.uid(),
            ..DeleteOptions::default()
        };
        client.delete(&REPLICA_SETS, set, options).await?;
    }
    Ok(())
}

pub(super) async fn write_condition(
    client: &Client,
    rollout: &Rollout,
    condition: &DeploymentCondition,
) -> Result<(), Status> {
    let mut status = NewStatus::unchanged(rollout);
    status.set(condition, &client.timestamp());
    write_status(client, rollout, status).await.map(drop)
}

/// Writes the status if it differs from the stored one; returns whether it did.
pub(super) async fn write_status(
    client: &Client,
    rollout: &Rollout,
    status: NewStatus,
) -> Result<bool, Status> {
    let Some(status) = status.patch(rollout) else {
        return Ok(false);
    };
    let deployment = &rollout.deployment;
    let patch = status_patch(deployment.value(), &status);
    client.patch_status(&DEPLOYMENTS, deployment, patch).await?;
    Ok(true)
}
