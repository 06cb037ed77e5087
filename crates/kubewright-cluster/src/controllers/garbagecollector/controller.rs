//! The loop of the garbage collector: which objects a change concerns, and what happens to one.

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::{OwnerReference, Scope};
use kubewright_kinds::Propagation;
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::graph::{DeletionState, GraphNode, OwnerGraph};
use crate::framework::{
    Client, ControlLoop, DeleteOptions, ObjectChange, Step, WorkQueue, resource_of, text,
};

/// Deletes objects whose owners are gone, and finishes deletions that wait for dependents.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector {
    graph: OwnerGraph,
    /// Objects to process, by uid.
    queue: WorkQueue<String>,
}

/// The owners of an object, by their state.
#[derive(Debug, Default)]
struct ClassifiedOwners {
    /// They exist and are not waiting for this object.
    solid: Vec<OwnerReference>,
    /// They do not exist, or lie in another namespace.
    dangling: Vec<OwnerReference>,
    /// They are deleted in the foreground and wait for this object among others.
    waiting: Vec<OwnerReference>,
}

impl ControlLoop for GarbageCollector {
    fn observe(&mut self, change: &ObjectChange<'_>) {
        match change.after {
            Some(object) => self.observe_stored(change.key, object),
            None => self.observe_deleted(change),
        }
    }

    async fn step(&mut self, client: &Client) -> Step {
        let Some(uid) = self.queue.pop() else {
            return self.queue.idle();
        };
        let result = match self.graph.get(&uid) {
            Some(node) => self.process(client, &uid, node).await,
            None => Ok(()),
        };
        // A change that leaves the references alone does not enqueue the object again, so that a
        // conflict is retried here.
        if self.graph.get(&uid).is_some() {
            self.queue.finish_retrying_conflicts(uid, result);
        } else {
            self.queue.finish(uid, result);
        }
        Step::Worked
    }
}

impl GarbageCollector {
    fn observe_stored(&mut self, key: &Key, object: &Object) {
        let node = GraphNode::read(key, object);
        let has_owners = !node.owners.is_empty();
        let deletion = node.deletion;
        let old = self.graph.insert(object.uid(), node.clone());
        if old.as_ref() == Some(&node) {
            return;
        }
        let is_new_state = old.as_ref().is_none_or(|old| old.deletion != deletion);
        if deletion == DeletionState::Foreground && is_new_state {
            self.enqueue_dependents(object.uid());
        }
        let is_waiting = matches!(deletion, DeletionState::Foreground | DeletionState::Orphan);
        if has_owners || is_waiting {
            self.queue.add(object.uid().to_owned());
        }
        // This object may have been the last dependent that a former owner waited for.
        self.enqueue_waiting(old.into_iter().flat_map(|old| old.owners));
    }

    fn observe_deleted(&mut self, change: &ObjectChange<'_>) {
        let Some(object) = change.before else {
            return;
        };
        let Some(old) = self.graph.remove(object.uid()) else {
            return;
        };
        self.enqueue_dependents(object.uid());
        self.enqueue_waiting(old.owners);
    }

    fn enqueue_dependents(&mut self, uid: &str) {
        for dependent in self.graph.dependents(uid) {
            self.queue.add(dependent.to_owned());
        }
    }

    /// Enqueues owners that wait for their dependents and that no dependent blocks any longer.
    fn enqueue_waiting(&mut self, owners: impl IntoIterator<Item = OwnerReference>) {
        for owner in owners {
            let node = self.graph.get(&owner.uid);
            let is_waiting = node.is_some_and(|node| node.deletion == DeletionState::Foreground);
            if is_waiting && !self.graph.is_blocked(&owner.uid) {
                self.queue.add(owner.uid);
            }
        }
    }

    async fn process(&self, client: &Client, uid: &str, node: &GraphNode) -> Result<(), Status> {
        let Some(object) = client.store().get(&node.key) else {
            return Ok(());
        };
        if object.uid() != uid {
            return Ok(());
        }
        match node.deletion {
            DeletionState::Foreground if self.graph.is_blocked(uid) => Ok(()),
            DeletionState::Foreground => {
                remove_finalizer(client, node, &object, "foregroundDeletion").await
            }
            DeletionState::Orphan => self.orphan_dependents(client, uid, node, &object).await,
            DeletionState::Background => Ok(()),
            DeletionState::Live => self.collect(client, uid, node, &object).await,
        }
    }

    /// Deletes an object without owners, or removes the references to owners that are gone
    /// (`attemptToDeleteItem` of pkg/controller/garbagecollector).
    async fn collect(
        &self,
        client: &Client,
        uid: &str,
        node: &GraphNode,
        object: &Object,
    ) -> Result<(), Status> {
        let Some(owners) = self.classify_owners(client, node) else {
            return Ok(());
        };
        if owners.dangling.is_empty() && owners.waiting.is_empty() {
            return Ok(());
        }
        let resource = resource_of(&node.key, object);
        if !owners.solid.is_empty() {
            let patch = metadata_patch(object, "ownerReferences", &json!(owners.solid));
            return client.patch(&resource, object, patch).await;
        }
        let has_dependents = self.graph.dependents(uid).next().is_some();
        let propagation = if !owners.waiting.is_empty() && has_dependents {
            Propagation::Foreground
        } else {
            propagation_of(object)
        };
        let options = DeleteOptions {
            uid,
            grace_seconds: None,
            propagation: Some(propagation),
        };
        client.delete(&resource, object, options).await
    }

    /// `None` when the server does not serve an owner's kind, or when a cluster-scoped object has a
    /// namespaced owner: such an object is never deleted.
    fn classify_owners(&self, client: &Client, node: &GraphNode) -> Option<ClassifiedOwners> {
        let mut owners = ClassifiedOwners::default();
        for owner in &node.owners {
            let found = self.graph.owner(owner, &node.key);
            let class = match found.map(|found| found.deletion) {
                Some(DeletionState::Foreground) if owner.block_owner_deletion == Some(true) => {
                    &mut owners.waiting
                }
                Some(_) => &mut owners.solid,
                None => {
                    let is_namespaced = is_namespaced(client, owner)?;
                    if is_namespaced && node.key.namespace().is_none() {
                        return None;
                    }
                    &mut owners.dangling
                }
            };
            class.push(owner.clone());
        }
        Some(owners)
    }

    /// Removes an owner from its dependents' references, then its finalizer.
    async fn orphan_dependents(
        &self,
        client: &Client,
        uid: &str,
        node: &GraphNode,
        object: &Object,
    ) -> Result<(), Status> {
        for dependent in self.graph.dependents(uid) {
            let Some(dependent) = self.graph.get(dependent) else {
                continue;
            };
            let Some(found) = client.store().get(&dependent.key) else {
                continue;
            };
            let mut owners = found.owner_references();
            owners.retain(|owner| owner.uid != uid);
            let references = if owners.is_empty() {
                Value::Null
            } else {
                json!(owners)
            };
            let patch = metadata_patch(&found, "ownerReferences", &references);
            let resource = resource_of(&dependent.key, &found);
            match client.patch(&resource, &found, patch).await {
                // A dependent that is gone has no references.
                Err(failure) if failure.code == 404 => {}
                patched => patched?,
            }
        }
        remove_finalizer(client, node, object, "orphan").await
    }
}

/// Whether the owner's kind is namespaced; `None` when the server does not serve the kind.
fn is_namespaced(client: &Client, owner: &OwnerReference) -> Option<bool> {
    let kind = owner.owner_kind();
    let resources = client.server().resources();
    let found = resources.iter().find(|resource| {
        resource.kind.group() == kind.group() && resource.kind.kind == kind.kind
    })?;
    Some(found.scope == Scope::Namespaced)
}

/// The propagation that an object's finalizers demand for its own deletion.
fn propagation_of(object: &Object) -> Propagation {
    let has = |finalizer: &str| object.finalizers().any(|present| present == finalizer);
    if has("orphan") {
        Propagation::Orphan
    } else if has("foregroundDeletion") {
        Propagation::Foreground
    } else {
        Propagation::Background
    }
}

async fn remove_finalizer(
    client: &Client,
    node: &GraphNode,
    object: &Object,
    finalizer: &str,
) -> Result<(), Status> {
    let finalizers = object.finalizers();
    let left: Vec<_> = finalizers.filter(|present| *present != finalizer).collect();
    let patch = metadata_patch(object, "finalizers", &json!(left));
    let resource = resource_of(&node.key, object);
    client.patch(&resource, object, patch).await
}

/// A merge patch of a metadata field that conflicts when the object has changed since it was read.
fn metadata_patch(object: &Object, field: &str, value: &Value) -> Value {
    let revision = text(object.value(), "/metadata/resourceVersion");
    json!({"metadata": {"resourceVersion": revision, field: value}})
}
