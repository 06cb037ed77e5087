//! Creates and deletes the Pods of a ReplicaSet.

use std::sync::Arc;

use kubewright_apiserver::store::Object;
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::rank::deletion_order;
use super::status::replicas;
use crate::framework::{
    Claim, Client, DeleteOptions, NewEvent, PODS, REPLICA_SETS, is_namespace_terminating, text,
};

/// How many Pods one sync creates or deletes at most (`BurstReplicas` of
/// pkg/controller/replicaset).
const BURST_REPLICAS: usize = 500;

/// Creates the missing Pods, or deletes the surplus (`manageReplicas`).
pub(super) async fn scale(
    client: &Client,
    claim: &Claim<'_>,
    active: &[Arc<Object>],
) -> Result<(), Status> {
    let set = claim.owner;
    let wanted = usize::try_from(replicas(set.value())).unwrap_or_default();
    if active.len() < wanted {
        let missing = (wanted - active.len()).min(BURST_REPLICAS);
        return create_pods(client, claim, missing).await;
    }
    let surplus = (active.len() - wanted).min(BURST_REPLICAS);
    if surplus == 0 {
        return Ok(());
    }
    let order = deletion_order(active.to_vec(), client.now());
    for pod in order.iter().take(surplus) {
        delete_pod(client, set, pod).await?;
    }
    Ok(())
}

async fn create_pods(client: &Client, claim: &Claim<'_>, count: usize) -> Result<(), Status> {
    for _ in 0..count {
        match create_pod(client, claim).await {
            Err(failure) if is_namespace_terminating(&failure) => return Ok(()),
            created => created?,
        }
    }
    Ok(())
}

async fn create_pod(client: &Client, claim: &Claim<'_>) -> Result<(), Status> {
    let set = claim.owner;
    let mut pod = pod_from_template(set.value());
    pod["metadata"]["ownerReferences"] = json!([claim.reference()]);
    let created = client.create(&PODS, set.namespace(), pod).await;
    let event = match &created {
        Ok(pod) => NewEvent::normal("SuccessfulCreate", format!("Created pod: {}", pod.name())),
        Err(failure) if is_namespace_terminating(failure) => return created.map(drop),
        Err(failure) => NewEvent::warning(
            "FailedCreate",
            format!("Error creating: {}", failure.message),
        ),
    };
    client.record_event(&REPLICA_SETS, set, event).await;
    created.map(drop)
}

async fn delete_pod(client: &Client, set: &Object, pod: &Object) -> Result<(), Status> {
    let options = DeleteOptions {
        uid: pod.uid(),
        ..DeleteOptions::default()
    };
    let deleted = client.delete(&PODS, pod, options).await;
    let event = match &deleted {
        Ok(()) => NewEvent::normal("SuccessfulDelete", format!("Deleted pod: {}", pod.name())),
        Err(failure) if failure.code == 404 => return Ok(()),
        Err(failure) => NewEvent::warning(
            "FailedDelete",
            format!("Error deleting: {}", failure.message),
        ),
    };
    client.record_event(&REPLICA_SETS, set, event).await;
    deleted
}

/// The Pod of a ReplicaSet's template (`GetPodFromTemplate` of
/// pkg/controller/controller_utils.go).
fn pod_from_template(set: &Value) -> Value {
    let template = set.pointer("/spec/template").unwrap_or(&Value::Null);
    let mut metadata = json!({"generateName": format!("{}-", text(set, "/metadata/name"))});
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")) {
            metadata[field] = value.clone();
        }
    }
    json!({
        "apiVersion": "v1",
        "kind": core::POD.kind,
        "metadata": metadata,
        "spec": template.get("spec").cloned().unwrap_or_default(),
    })
}
