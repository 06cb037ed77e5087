use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::LabelSelector;
use kubewright_wire::status::{CauseKind, Status};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::rank::least_wanted;
use super::status::{Pods, available_in, next_status, replicas};
use crate::claim::Claim;
use crate::client::{Deletion, PODS, REPLICA_SETS};
use crate::events::Report;
use crate::owned::{Owned, controller_of};
use crate::selection::{label_selector, selects};
use crate::view::{number, status_patch, text};
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

const SETS: &str = "replicasets.apps";

/// How many Pods are made or deleted at once (`BurstReplicas` of pkg/controller/replicaset).
const BURST: usize = 500;

/// Keeps the number of Pods of each ReplicaSet.
#[derive(Debug, Default)]
pub(crate) struct ReplicaSets {
    selectors: BTreeMap<Key, LabelSelector>,
    pods: Owned,
    work: Work<Key>,
}

impl Controller for ReplicaSets {
    fn observe(&mut self, event: &Event<'_>) {
        match event.key.resource() {
            SETS => self.observe_set(event),
            "pods" => self.observe_pod(event),
            _ => {}
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(key) = self.work.next() else {
            return self.work.idle();
        };
        let result = match cluster.store().get(&key) {
            Some(set) => self.sync(cluster, &key, &set).await,
            None => Ok(()),
        };
        self.work.settle_insistently(key, result);
        Step::Worked
    }
}

impl ReplicaSets {
    fn observe_set(&mut self, event: &Event<'_>) {
        let Some(set) = event.now else {
            self.selectors.remove(event.key);
            return;
        };
        match label_selector(set.value().pointer("/spec/selector")) {
            Some(selector) => self.selectors.insert(event.key.clone(), selector),
            None => self.selectors.remove(event.key),
        };
        self.work.add(event.key.clone());
    }

    fn observe_pod(&mut self, event: &Event<'_>) {
        self.pods.observe(event);
        let namespace = event.key.namespace();
        for pod in [event.before, event.now].into_iter().flatten() {
            match controller_of(pod) {
                Some(owner) if owner.kind == "ReplicaSet" => {
                    self.work.add(Key::new(SETS, namespace, &owner.name));
                }
                Some(_) => {}
                None => self.wake_for_orphan(pod),
            }
        }
    }

    /// Whoever could adopt the Pod looks at it.
    fn wake_for_orphan(&mut self, pod: &Object) {
        let matching = self.selectors.iter().filter(|(key, selector)| {
            key.namespace() == pod.namespace() && selects(selector, pod.value())
        });
        for (key, _) in matching {
            self.work.add(key.clone());
        }
    }

    async fn sync(&mut self, cluster: &Client, key: &Key, set: &Object) -> Result<(), Status> {
        let Some(selector) = self.selectors.get(key).filter(|one| !one.is_empty()) else {
            return Ok(());
        };
        let claim = Claim {
            owner: set,
            owner_resource: &REPLICA_SETS,
            selector,
            resource: &PODS,
        };
        let namespace = set.namespace().unwrap_or_default();
        let keys = self.pods.of(set.uid()).chain(self.pods.orphans(namespace));
        let found: Vec<_> = keys.filter_map(|key| cluster.store().get(key)).collect();
        let (ending, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|pod| pod.is_terminating());
        let is_own =
            |pod: &&Arc<Object>| controller_of(pod).is_some_and(|one| one.uid == set.uid());
        let terminating = ending.iter().filter(is_own).count();
        let active = found.into_iter().filter(|pod| !has_ended(pod.value()));
        let active = claim.take(cluster, active).await?;
        let managed = match set.is_terminating() {
            true => Ok(()),
            false => manage(cluster, &claim, &active).await,
        };
        let pods = Pods {
            active: &active,
            terminating,
        };
        let failure = managed.as_ref().err();
        if let Some(status) = next_status(set, pods, failure, cluster.now()) {
            let patch = status_patch(set.value(), &status);
            cluster.patch_status(&REPLICA_SETS, set, patch).await?;
        }
        self.wake_when_available(cluster, key, set, &active);
        managed
    }

    /// Looks again when the next Pod has been ready for long enough.
    fn wake_when_available(
        &mut self,
        cluster: &Client,
        key: &Key,
        set: &Object,
        active: &[Arc<Object>],
    ) {
        let wait = number(set.value(), "/spec/minReadySeconds").unwrap_or_default();
        let waits = active
            .iter()
            .filter_map(|pod| available_in(pod.value(), wait, cluster.now()));
        if let Some(next) = waits.filter(|wait| !wait.is_zero()).min() {
            self.work.add_at(Instant::now() + next, key.clone());
        }
    }
}

/// Makes the Pods that are missing, or deletes those that are too many.
async fn manage(cluster: &Client, claim: &Claim<'_>, active: &[Arc<Object>]) -> Result<(), Status> {
    let set = claim.owner;
    let wanted = usize::try_from(replicas(set.value())).unwrap_or_default();
    if active.len() < wanted {
        for _ in 0..(wanted - active.len()).min(BURST) {
            if let Err(failure) = create(cluster, claim).await {
                return match is_namespace_ending(&failure) {
                    true => Ok(()),
                    false => Err(failure),
                };
            }
        }
        return Ok(());
    }
    let surplus = (active.len() - wanted).min(BURST);
    if surplus == 0 {
        return Ok(());
    }
    let order = least_wanted(active.to_vec(), cluster.now());
    for pod in order.iter().take(surplus) {
        delete(cluster, set, pod).await?;
    }
    Ok(())
}

async fn create(cluster: &Client, claim: &Claim<'_>) -> Result<(), Status> {
    let set = claim.owner;
    let mut pod = pod_of(set.value());
    pod["metadata"]["ownerReferences"] = json!([claim.reference()]);
    let made = cluster.make(&PODS, set.namespace(), pod).await;
    let report = match &made {
        Ok(pod) => Report::normal("SuccessfulCreate", format!("Created pod: {}", pod.name())),
        Err(failure) if is_namespace_ending(failure) => return made.map(drop),
        Err(failure) => Report::warning(
            "FailedCreate",
            format!("Error creating: {}", failure.message),
        ),
    };
    cluster.report(&REPLICA_SETS, set, report).await;
    made.map(drop)
}

async fn delete(cluster: &Client, set: &Object, pod: &Object) -> Result<(), Status> {
    let deletion = Deletion {
        uid: pod.uid(),
        ..Deletion::default()
    };
    let deleted = cluster.delete(&PODS, pod, deletion).await;
    let report = match &deleted {
        Ok(()) => Report::normal("SuccessfulDelete", format!("Deleted pod: {}", pod.name())),
        Err(failure) if failure.code == 404 => return Ok(()),
        Err(failure) => Report::warning(
            "FailedDelete",
            format!("Error deleting: {}", failure.message),
        ),
    };
    cluster.report(&REPLICA_SETS, set, report).await;
    deleted
}

/// The Pod that a ReplicaSet's template describes (`GetPodFromTemplate`).
fn pod_of(set: &Value) -> Value {
    let template = set.pointer("/spec/template").unwrap_or(&Value::Null);
    let mut metadata = json!({"generateName": format!("{}-", text(set, "/metadata/name"))});
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")) {
            metadata[field] = value.clone();
        }
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": template.get("spec").cloned().unwrap_or_default(),
    })
}

fn has_ended(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether something could not be made because its namespace is being deleted, after which
/// nothing can.
pub(crate) fn is_namespace_ending(failure: &Status) -> bool {
    let causes = failure.details.iter().flat_map(|details| &details.causes);
    let mut kinds = causes.filter_map(|cause| cause.kind.as_ref());
    kinds.any(|kind| matches!(kind, CauseKind::Other(name) if name == "NamespaceTerminating"))
}
