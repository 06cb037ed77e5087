//! Creates the ReplicaSet of a new template, and keeps its annotations.

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::OwnerReference;
use kubewright_kinds::apps;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::revision::{REVISION, annotations_for, next_revision};
use super::rollout::{Rollout, status_count};
use super::status::{DeploymentCondition, NewStatus};
use super::template::{TEMPLATE_HASH, is_same_template, template_hash};
use super::write::write_condition;
use crate::framework::{
    Client, DEPLOYMENTS, NewEvent, REPLICA_SETS, controller_of, is_namespace_terminating, number,
    status_patch, text,
};

/// The longest name of an object.
const MAX_NAME_LENGTH: usize = 253;

/// Creates the new ReplicaSet (`getNewReplicaSet`).
pub(super) async fn create_set(client: &Client, rollout: &Rollout) -> Result<(), Status> {
    let deployment = &rollout.deployment;
    let template = deployment.value().pointer("/spec/template");
    let collisions = status_count(deployment, "collisionCount");
    let hash = template_hash(template.unwrap_or(&Value::Null), collisions);
    let size = rollout.next_size(0);
    let set = new_set(rollout, &hash, size);
    let name = text(&set, "/metadata/name").to_owned();
    let created = client.create(&REPLICA_SETS, deployment.namespace(), set);
    match created.await {
        Ok(_) => {}
        Err(failure) if failure.code == 409 => {
            return resolve_conflict(client, rollout, &name).await;
        }
        Err(failure) if is_namespace_terminating(&failure) => return Ok(()),
        Err(failure) => {
            report_failure(client, rollout, &name, &failure).await?;
            return Err(failure);
        }
    }
    if size > 0 {
        let message = format!("Scaled up replica set {name} from 0 to {size}");
        let event = NewEvent::normal("ScalingReplicaSet", message);
        client.record_event(&DEPLOYMENTS, deployment, event).await;
    }
    let message = format!("Created new replica set {name:?}");
    let condition = DeploymentCondition::progressing("True", "NewReplicaSetCreated", message);
    let mut patch = revision_patch(rollout, &next_revision(rollout).to_string());
    if rollout.progress_deadline().is_some() {
        patch["status"] = with_condition(client, rollout, &condition);
    }
    client.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// Updates the annotations of the new ReplicaSet and the revision of the Deployment; returns
/// whether it has written something.
pub(super) async fn sync_revision(client: &Client, rollout: &Rollout) -> Result<bool, Status> {
    let Some(new) = &rollout.new else {
        return Ok(false);
    };
    let deployment = &rollout.deployment;
    let annotations = annotations_for(rollout, Some(new));
    let min_ready = |object: &Object| number(object.value(), "/spec/minReadySeconds").unwrap_or(0);
    if !annotations.is_empty() || min_ready(new) != min_ready(deployment) {
        let patch = json!({
            "metadata": {
                "resourceVersion": new.revision().to_string(),
                "annotations": annotations,
            },
            "spec": {"minReadySeconds": deployment.value().pointer("/spec/minReadySeconds")},
        });
        client.patch(&REPLICA_SETS, new, patch).await?;
        return Ok(true);
    }
    let revision = new.annotation(REVISION).unwrap_or_default();
    let is_revision_current = deployment.annotation(REVISION) == Some(revision);
    let status = NewStatus::unchanged(rollout);
    let is_found_reported =
        rollout.progress_deadline().is_none() || status.find("Progressing").is_some();
    if is_revision_current && is_found_reported {
        return Ok(false);
    }
    let mut patch = revision_patch(rollout, revision);
    if !is_found_reported {
        let message = format!("Found new replica set {:?}", new.name());
        let condition = DeploymentCondition::progressing("True", "FoundNewReplicaSet", message);
        patch["status"] = with_condition(client, rollout, &condition);
    }
    client.patch_status(&DEPLOYMENTS, deployment, patch).await?;
    Ok(true)
}

/// A merge patch of the Deployment's revision that conflicts when the Deployment has changed.
fn revision_patch(rollout: &Rollout, revision: &str) -> Value {
    json!({"metadata": {
        "resourceVersion": rollout.deployment.revision().to_string(),
        "annotations": {REVISION: revision},
    }})
}

/// The stored conditions with one more, as a status.
fn with_condition(client: &Client, rollout: &Rollout, condition: &DeploymentCondition) -> Value {
    let mut status = NewStatus::unchanged(rollout);
    status.set(condition, &client.timestamp());
    json!({"conditions": status.conditions})
}

async fn report_failure(
    client: &Client,
    rollout: &Rollout,
    name: &str,
    failure: &Status,
) -> Result<(), Status> {
    let message = format!(
        "Failed to create new replica set {name:?}: {}",
        failure.message
    );
    let reason = "ReplicaSetCreateError";
    if rollout.progress_deadline().is_some() {
        let condition = DeploymentCondition::progressing("False", reason, message.as_str());
        write_condition(client, rollout, &condition).await?;
    }
    let event = NewEvent::warning(reason, message);
    client
        .record_event(&DEPLOYMENTS, &rollout.deployment, event)
        .await;
    Ok(())
}

/// Handles a ReplicaSet that has the name already: unless it is the new one, the next attempt uses
/// another hash.
async fn resolve_conflict(client: &Client, rollout: &Rollout, name: &str) -> Result<(), Status> {
    let deployment = &rollout.deployment;
    let conflict = || Status::conflict(apps::REPLICA_SET.as_resource_tuple(), name);
    let key = Key::of(&apps::REPLICA_SET, deployment.namespace(), name);
    let set = client.store().get(&key).ok_or_else(conflict)?;
    let template = |object: &Object| {
        let template = object.value().pointer("/spec/template");
        template.cloned().unwrap_or_default()
    };
    let is_owned = controller_of(&set).is_some_and(|owner| owner.uid == deployment.uid());
    if is_owned && is_same_template(&template(&set), &template(deployment)) {
        return Err(conflict());
    }
    let count = status_count(deployment, "collisionCount") + 1;
    let patch = status_patch(deployment.value(), &json!({"collisionCount": count}));
    client.patch_status(&DEPLOYMENTS, deployment, patch).await
}

/// The ReplicaSet of the Deployment's template, with a size.
fn new_set(rollout: &Rollout, hash: &str, size: i64) -> Value {
    let deployment = rollout.deployment.value();
    let spec_field = |field: &str| deployment.pointer(&format!("/spec/{field}")).cloned();
    let mut template = spec_field("template").unwrap_or_else(|| json!({}));
    template["metadata"]["labels"][TEMPLATE_HASH] = hash.into();
    let mut selector = spec_field("selector").unwrap_or_else(|| json!({}));
    selector["matchLabels"][TEMPLATE_HASH] = hash.into();
    let mut spec = json!({
        "replicas": size,
        "selector": selector,
        "template": template,
    });
    if let Some(min_ready) = spec_field("minReadySeconds") {
        spec["minReadySeconds"] = min_ready;
    }
    let name: String = rollout
        .deployment
        .name()
        .chars()
        .take(MAX_NAME_LENGTH - 1 - hash.len())
        .collect();
    let owner = &rollout.deployment;
    let reference = OwnerReference::controller(&DEPLOYMENTS.kind, owner.name(), owner.uid());
    json!({
        "apiVersion": "apps/v1",
        "kind": apps::REPLICA_SET.kind,
        "metadata": {
            "name": format!("{name}-{hash}"),
            "labels": template["metadata"]["labels"],
            "annotations": annotations_for(rollout, None),
            "ownerReferences": [reference],
        },
        "spec": spec,
    })
}
