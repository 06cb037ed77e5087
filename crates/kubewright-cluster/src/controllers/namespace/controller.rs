//! The loop of the namespace controller: what is left in terminating namespaces, and in which
//! order it is deleted.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_apiserver::store::{Key, Object};
use kubewright_kinds::Propagation;
use kubewright_kinds::core;
use kubewright_wire::status::Status;
use serde_json::json;

use super::conditions::{RemainingObject, deletion_conditions};
use crate::framework::{
    Client, ControlLoop, DeleteOptions, NAMESPACES, ObjectChange, Step, WorkQueue, items,
    resource_of, status_patch, with_condition,
};

const FINALIZER: &str = "kubernetes";

/// Deletes the content of terminating namespaces, then removes their finalizer.
///
/// Pods are deleted first and awaited, then everything else. The conditions of the namespace list
/// what remains. Kubernetes waits five seconds before it begins, this controller does not.
#[derive(Debug, Default)]
pub(crate) struct NamespaceController {
    /// The objects of each namespace.
    content: BTreeMap<String, BTreeSet<Key>>,
    terminating: BTreeSet<String>,
    /// Objects whose deletion is queued or done. A failed one is retried by the queue.
    deleting: BTreeSet<Key>,
    queue: WorkQueue<Task>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    DeleteObject(Key),
    /// Deletes, finalizes or reports what is left in a namespace.
    SyncNamespace(String),
}

impl ControlLoop for NamespaceController {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        if change.key.is_of(&core::NAMESPACE) {
            return self.observe_namespace(change);
        }
        let Some(namespace) = change.key.namespace() else {
            return;
        };
        let keys = self.content.entry(namespace.to_owned()).or_default();
        let is_relevant = match change.after {
            Some(_) => keys.insert(change.key.clone()),
            None => {
                self.deleting.remove(change.key);
                keys.remove(change.key) && is_last_of_its_turn(keys, change.key)
            }
        };
        if keys.is_empty() {
            self.content.remove(namespace);
        }
        if is_relevant && self.terminating.contains(namespace) {
            self.queue.add(Task::SyncNamespace(namespace.to_owned()));
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(task) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match &task {
            Task::DeleteObject(key) => delete_object(client, key).await,
            Task::SyncNamespace(namespace) => self.sync(client, namespace).await,
        };
        self.queue.finish(task, result);
        Step::Worked
    }
}

impl NamespaceController {
    fn observe_namespace(&mut self, change: &ObjectChange<'_>) {
        let name = change.key.name();
        match change.after {
            Some(namespace) if namespace.is_terminating() => {
                self.terminating.insert(name.to_owned());
                self.queue.add(Task::SyncNamespace(name.to_owned()));
            }
            Some(_) => {}
            None => {
                self.terminating.remove(name);
                self.content.remove(name);
            }
        }
    }

    async fn sync(&mut self, client: &Client, name: &str) -> Result<(), Status> {
        let key = Key::of(&core::NAMESPACE, None, name);
        let Some(namespace) = client.store().get(&key) else {
            return Ok(());
        };
        let mut finalizers = items(namespace.value(), "/spec/finalizers").iter();
        let has_finalizer = finalizers.any(|finalizer| finalizer == FINALIZER);
        if !namespace.is_terminating() || !has_finalizer {
            return Ok(());
        }
        let remaining: Vec<_> = self
            .content
            .get(name)
            .into_iter()
            .flatten()
            .filter_map(|key| {
                let object = client.store().get(key)?;
                Some(RemainingObject { key, object })
            })
            .collect();
        if remaining.is_empty() {
            return finalize(client, &namespace).await;
        }
        let has_pods = remaining.iter().any(|left| left.key.is_of(&core::POD));
        let mut is_everything_deleting = true;
        for RemainingObject { key, object } in &remaining {
            let is_its_turn = !has_pods || key.is_of(&core::POD);
            if is_its_turn && !object.is_terminating() && self.deleting.insert((*key).clone()) {
                self.queue.add(Task::DeleteObject((*key).clone()));
                is_everything_deleting = false;
            }
        }
        // Objects that are still to be deleted are not reported, only those that remain after
        // their deletion.
        if is_everything_deleting {
            return report_remaining(client, &namespace, &remaining).await;
        }
        self.queue.add(Task::SyncNamespace(name.to_owned()));
        Ok(())
    }
}

/// Whether the removal of an object lets the deletion of its namespace continue: it was the last
/// object, or the last Pod, which everything else waits for.
fn is_last_of_its_turn(left: &BTreeSet<Key>, removed: &Key) -> bool {
    let is_pod = |key: &Key| key.is_of(&core::POD);
    let mut later = left.range(Key::at(core::POD.resource_id(), "")..);
    left.is_empty() || is_pod(removed) && !later.next().is_some_and(is_pod)
}

async fn delete_object(client: &Client, key: &Key) -> Result<(), Status> {
    let Some(object) = client.store().get(key) else {
        return Ok(());
    };
    let options = DeleteOptions {
        uid: object.uid(),
        grace_seconds: None,
        propagation: Some(Propagation::Background),
    };
    client
        .delete(&resource_of(key, &object), &object, options)
        .await
}

async fn finalize(client: &Client, namespace: &Object) -> Result<(), Status> {
    let mut value = namespace.value().clone();
    let mut finalizers = items(&value, "/spec/finalizers").to_vec();
    finalizers.retain(|finalizer| finalizer != FINALIZER);
    value["spec"]["finalizers"] = finalizers.into();
    client
        .update_subresource(&NAMESPACES, namespace, "finalize", value)
        .await
}

/// Writes into the namespace's conditions what remains in it.
async fn report_remaining(
    client: &Client,
    namespace: &Object,
    remaining: &[RemainingObject<'_>],
) -> Result<(), Status> {
    let stored = items(namespace.value(), "/status/conditions");
    let mut object = json!({"status": {"conditions": stored}});
    let mut is_changed = false;
    for condition in deletion_conditions(remaining, &client.timestamp()) {
        if let Some(conditions) = with_condition(&object, condition) {
            object["status"]["conditions"] = conditions.into();
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(());
    }
    let patch = status_patch(namespace.value(), &object["status"]);
    client.patch_status(&NAMESPACES, namespace, patch).await
}
