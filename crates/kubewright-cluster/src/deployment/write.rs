use kubewright_core::OwnerReference;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::resize::{Resize, rescale};
use super::revision::{
    REVISION, annotations_for, is_same_template, new_set, next_revision, revision,
    size_annotations, template_hash,
};
use super::rollout::{Rollout, counted, wanted};
use super::status::{Condition, NewStatus};
use crate::Client;
use crate::client::{DEPLOYMENTS, Deletion, REPLICA_SETS};
use crate::events::Report;
use crate::owned::controller_of;
use crate::replica_set::is_namespace_ending;
use crate::view::{number, status_patch, text};
use kubewright_apiserver::store::{Key, Object};

const SET_KEYS: &str = "replicasets.apps";

/// A Deployment that selects everything would take over what is not its own.
pub(super) async fn refuse_everything(cluster: &Client, deployment: &Object) -> Result<(), Status> {
    let message = "This deployment is selecting all pods. A non-empty selector is required.";
    let report = Report::warning("SelectingAll", message);
    cluster.report(&DEPLOYMENTS, deployment, report).await;
    let generation = deployment.generation();
    if counted(deployment, "observedGeneration") >= generation {
        return Ok(());
    }
    let patch = status_patch(
        deployment.value(),
        &json!({"observedGeneration": generation}),
    );
    cluster.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// Brings the annotations of the new ReplicaSet and the revision of the Deployment up to date;
/// true when something was written.
pub(super) async fn sync_revision(cluster: &Client, rollout: &Rollout) -> Result<bool, Status> {
    let Some(new) = &rollout.new else {
        return Ok(false);
    };
    let deployment = &rollout.deployment;
    let annotations = annotations_for(rollout, Some(new));
    let wait = |object: &Object| number(object.value(), "/spec/minReadySeconds").unwrap_or(0);
    if !annotations.is_empty() || wait(new) != wait(deployment) {
        let patch = json!({
            "metadata": {
                "resourceVersion": new.revision().to_string(),
                "annotations": annotations,
            },
            "spec": {"minReadySeconds": deployment.value().pointer("/spec/minReadySeconds")},
        });
        cluster.patch(&REPLICA_SETS, new, patch).await?;
        return Ok(true);
    }
    let mut patch = json!({"metadata": {"resourceVersion": deployment.revision().to_string()}});
    let revision = new.annotation(REVISION).unwrap_or_default();
    let mut is_due = deployment.annotation(REVISION) != Some(revision);
    if is_due {
        patch["metadata"]["annotations"] = json!({REVISION: revision});
    }
    let mut status = NewStatus::unchanged(rollout);
    if rollout.deadline().is_some() && status.find("Progressing").is_none() {
        let condition = Condition {
            kind: "Progressing",
            status: "True",
            reason: "FoundNewReplicaSet",
            message: format!("Found new replica set {:?}", new.name()),
        };
        status.set(&condition, &cluster.timestamp());
        patch["status"] = json!({"conditions": status.conditions});
        is_due = true;
    }
    if is_due {
        cluster
            .patch_status(&DEPLOYMENTS, deployment, patch)
            .await?;
    }
    Ok(is_due)
}

pub(super) async fn create_set(cluster: &Client, rollout: &Rollout) -> Result<(), Status> {
    let deployment = &rollout.deployment;
    let template = deployment.value().pointer("/spec/template");
    let template = template.unwrap_or(&Value::Null);
    let collisions = number(deployment.value(), "/status/collisionCount").unwrap_or_default();
    let hash = template_hash(template, collisions);
    let size = rollout.next_size(0);
    let mut set = new_set(rollout, &hash, size);
    let claim = OwnerReference::controller(&DEPLOYMENTS.kind, deployment.name(), deployment.uid());
    set["metadata"]["ownerReferences"] = json!([claim]);
    let name = text(&set, "/metadata/name").to_owned();
    let made = cluster.make(&REPLICA_SETS, deployment.namespace(), set);
    match made.await {
        Ok(_) => {}
        Err(failure) if failure.code == 409 => return resolve(cluster, rollout, &name).await,
        Err(failure) if is_namespace_ending(&failure) => return Ok(()),
        Err(failure) => {
            let message = format!(
                "Failed to create new replica set {name:?}: {}",
                failure.message
            );
            if rollout.deadline().is_some() {
                let condition = Condition {
                    kind: "Progressing",
                    status: "False",
                    reason: "ReplicaSetCreateError",
                    message: message.clone(),
                };
                write_condition(cluster, rollout, &condition).await?;
            }
            let report = Report::warning("ReplicaSetCreateError", message);
            cluster.report(&DEPLOYMENTS, deployment, report).await;
            return Err(failure);
        }
    }
    if size > 0 {
        let message = format!("Scaled up replica set {name} from 0 to {size}");
        let report = Report::normal("ScalingReplicaSet", message);
        cluster.report(&DEPLOYMENTS, deployment, report).await;
    }
    let revision = next_revision(rollout).to_string();
    let mut patch = json!({"metadata": {
        "resourceVersion": deployment.revision().to_string(),
        "annotations": {REVISION: revision},
    }});
    if rollout.deadline().is_some() {
        let mut status = NewStatus::unchanged(rollout);
        let condition = Condition {
            kind: "Progressing",
            status: "True",
            reason: "NewReplicaSetCreated",
            message: format!("Created new replica set {name:?}"),
        };
        status.set(&condition, &cluster.timestamp());
        patch["status"] = json!({"conditions": status.conditions});
    }
    cluster.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// A ReplicaSet of that name is there: unless it is the one, another hash is tried.
async fn resolve(cluster: &Client, rollout: &Rollout, name: &str) -> Result<(), Status> {
    let deployment = &rollout.deployment;
    let key = Key::new(SET_KEYS, deployment.namespace(), name);
    let Some(set) = cluster.store().get(&key) else {
        return Err(Status::conflict(("apps", "replicasets"), name));
    };
    let template = |object: &Object| object.value().pointer("/spec/template").cloned();
    let is_own = controller_of(&set).is_some_and(|owner| owner.uid == deployment.uid());
    let (one, two) = (template(&set), template(deployment));
    if is_own && is_same_template(&one.unwrap_or_default(), &two.unwrap_or_default()) {
        return Err(Status::conflict(("apps", "replicasets"), name));
    }
    let count = counted(deployment, "collisionCount") + 1;
    let patch = status_patch(deployment.value(), &json!({"collisionCount": count}));
    cluster.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// What a Deployment needs that was scaled or is paused.
pub(super) async fn resize(cluster: &Client, rollout: &Rollout) -> Result<(), Status> {
    for resize in rescale(rollout) {
        apply_size(cluster, rollout, &resize).await?;
    }
    if rollout.is_paused() {
        clean_up(cluster, rollout).await?;
    }
    let status = NewStatus::of(rollout, &cluster.timestamp());
    write_status(cluster, rollout, status).await.map(drop)
}

/// Gives a ReplicaSet its size, and notes that of the Deployment on it.
pub(super) async fn apply_size(
    cluster: &Client,
    rollout: &Rollout,
    resize: &Resize,
) -> Result<(), Status> {
    let set = &resize.set;
    let before = wanted(set);
    let annotations = size_annotations(rollout);
    let is_noted = |(key, value): (&String, &Value)| set.annotation(key) == value.as_str();
    if before == resize.size && (!resize.is_forced || annotations.iter().all(is_noted)) {
        return Ok(());
    }
    let patch = json!({
        "metadata": {
            "resourceVersion": set.revision().to_string(),
            "annotations": annotations,
        },
        "spec": {"replicas": resize.size},
    });
    cluster.patch(&REPLICA_SETS, set, patch).await?;
    if before != resize.size {
        let way = if before < resize.size { "up" } else { "down" };
        let message = format!(
            "Scaled {way} replica set {} from {before} to {}",
            set.name(),
            resize.size
        );
        let report = Report::normal("ScalingReplicaSet", message);
        cluster
            .report(&DEPLOYMENTS, &rollout.deployment, report)
            .await;
    }
    Ok(())
}

/// Deletes old ReplicaSets beyond those that are kept to go back to.
pub(super) async fn clean_up(cluster: &Client, rollout: &Rollout) -> Result<(), Status> {
    let Some(limit) = rollout.history() else {
        return Ok(());
    };
    let alive = rollout.old.iter().filter(|set| !set.is_terminating());
    let mut sets: Vec<_> = alive.collect();
    let surplus = sets
        .len()
        .saturating_sub(usize::try_from(limit).unwrap_or_default());
    sets.sort_by_key(|set| revision(set).unwrap_or_default());
    for set in sets.into_iter().take(surplus) {
        let is_used = counted(set, "replicas") != 0
            || wanted(set) != 0
            || set.generation() > counted(set, "observedGeneration");
        if is_used {
            continue;
        }
        let deletion = Deletion {
            uid: set.uid(),
            ..Deletion::default()
        };
        cluster.delete(&REPLICA_SETS, set, deletion).await?;
    }
    Ok(())
}

pub(super) async fn write_condition(
    cluster: &Client,
    rollout: &Rollout,
    condition: &Condition,
) -> Result<(), Status> {
    let mut status = NewStatus::unchanged(rollout);
    status.set(condition, &cluster.timestamp());
    write_status(cluster, rollout, status).await.map(drop)
}

/// Writes the status unless it is there; true when it was written.
pub(super) async fn write_status(
    cluster: &Client,
    rollout: &Rollout,
    status: NewStatus,
) -> Result<bool, Status> {
    let Some(status) = status.patch(rollout) else {
        return Ok(false);
    };
    let deployment = &rollout.deployment;
    let patch = status_patch(deployment.value(), &status);
    cluster
        .patch_status(&DEPLOYMENTS, deployment, patch)
        .await?;
    Ok(true)
}
