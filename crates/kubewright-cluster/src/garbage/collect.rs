use kubewright_core::{OwnerReference, Scope};
use kubewright_wire::status::Status;
use serde_json::{Value, json};

use super::graph::{Deletion, Graph, Node};
use crate::client::{self, resource_of};
use crate::view::text;
use crate::{Client, Controller, Event, Step, Work};
use kubewright_apiserver::store::{Key, Object};

/// Deletes what has lost its owners, and finishes deletions that wait for dependents.
#[derive(Debug, Default)]
pub(crate) struct GarbageCollector {
    graph: Graph,
    /// The uids of objects to look at.
    work: Work<String>,
}

/// The owners of an object, by what became of them.
#[derive(Debug, Default)]
struct Owners {
    solid: Vec<OwnerReference>,
    /// Absent, or out of reach.
    dangling: Vec<OwnerReference>,
    /// Deleted in the foreground, waiting for this object among others.
    waiting: Vec<OwnerReference>,
}

impl Controller for GarbageCollector {
    fn observe(&mut self, event: &Event<'_>) {
        match event.now {
            Some(object) => self.observe_present(event.key, object),
            None => self.observe_gone(event),
        }
    }

    async fn step(&mut self, cluster: &Client) -> Step {
        let Some(uid) = self.work.next() else {
            return self.work.idle();
        };
        let result = match self.graph.get(&uid) {
            Some(node) => self.look_at(cluster, &uid, node).await,
            None => Ok(()),
        };
        // A change that leaves the references as they are does not bring the object back.
        match self.graph.get(&uid).is_some() {
            true => self.work.settle_insistently(uid, result),
            false => self.work.settle(uid, result),
        }
        Step::Worked
    }
}

impl GarbageCollector {
    fn observe_present(&mut self, key: &Key, object: &Object) {
        let node = Node::read(key, object);
        let has_owners = !node.owners.is_empty();
        let deletion = node.deletion;
        let old = self.graph.insert(object.uid(), node.clone());
        if old.as_ref() == Some(&node) {
            return;
        }
        let began = old.as_ref().is_none_or(|old| old.deletion != deletion);
        if deletion == Deletion::Foreground && began {
            self.wake_dependents(object.uid());
        }
        let waits = matches!(deletion, Deletion::Foreground | Deletion::Orphan);
        if has_owners || waits {
            self.work.add(object.uid().to_owned());
        }
        // A dependent whose reference changed may have been the last one its owner waited for.
        self.wake_waiting(old.into_iter().flat_map(|old| old.owners));
    }

    fn observe_gone(&mut self, event: &Event<'_>) {
        let Some(object) = event.before else {
            return;
        };
        let Some(old) = self.graph.remove(object.uid()) else {
            return;
        };
        self.wake_dependents(object.uid());
        self.wake_waiting(old.owners);
    }

    fn wake_dependents(&mut self, uid: &str) {
        for dependent in self.graph.dependents(uid) {
            self.work.add(dependent.to_owned());
        }
    }

    /// Looks again at owners that wait and that nothing blocks any more.
    fn wake_waiting(&mut self, owners: impl IntoIterator<Item = OwnerReference>) {
        for owner in owners {
            let node = self.graph.get(&owner.uid);
            let waits = node.is_some_and(|node| node.deletion == Deletion::Foreground);
            if waits && !self.graph.is_blocked(&owner.uid) {
                self.work.add(owner.uid);
            }
        }
    }

    async fn look_at(&self, cluster: &Client, uid: &str, node: &Node) -> Result<(), Status> {
        let Some(object) = cluster.store().get(&node.key) else {
            return Ok(());
        };
        if object.uid() != uid {
            return Ok(());
        }
        match node.deletion {
            Deletion::Foreground if self.graph.is_blocked(uid) => Ok(()),
            Deletion::Foreground => {
                drop_finalizer(cluster, node, &object, "foregroundDeletion").await
            }
            Deletion::Orphan => self.orphan(cluster, uid, node, &object).await,
            Deletion::Background => Ok(()),
            Deletion::None => self.collect(cluster, uid, node, &object).await,
        }
    }

    /// Deletes an object without owners, or drops the references to those that are gone.
    async fn collect(
        &self,
        cluster: &Client,
        uid: &str,
        node: &Node,
        object: &Object,
    ) -> Result<(), Status> {
        let Some(owners) = self.classify(cluster, node) else {
            return Ok(());
        };
        if owners.dangling.is_empty() && owners.waiting.is_empty() {
            return Ok(());
        }
        let resource = resource_of(&node.key, object);
        if !owners.solid.is_empty() {
            let patch = at_revision(object, "ownerReferences", &json!(owners.solid));
            return cluster.patch(&resource, object, patch).await;
        }
        let has_dependents = self.graph.dependents(uid).next().is_some();
        let propagation = match !owners.waiting.is_empty() && has_dependents {
            true => "Foreground",
            false => own_propagation(object),
        };
        let deletion = client::Deletion {
            uid,
            grace_seconds: None,
            propagation: Some(propagation),
        };
        cluster.delete(&resource, object, deletion).await
    }

    /// None when an owner is of a kind that this cluster does not know, or that this object can
    /// never reach: such an object is left alone.
    fn classify(&self, cluster: &Client, node: &Node) -> Option<Owners> {
        let mut owners = Owners::default();
        for owner in &node.owners {
            let found = self.graph.owner(owner, &node.key);
            let place = match found.map(|found| found.deletion) {
                Some(Deletion::Foreground) if owner.block_owner_deletion == Some(true) => {
                    &mut owners.waiting
                }
                Some(_) => &mut owners.solid,
                None => {
                    let is_namespaced = is_namespaced(cluster, owner)?;
                    if is_namespaced && node.key.namespace().is_none() {
                        return None;
                    }
                    &mut owners.dangling
                }
            };
            place.push(owner.clone());
        }
        Some(owners)
    }

    /// Takes an owner out of its dependents' references, then lets it go.
    async fn orphan(
        &self,
        cluster: &Client,
        uid: &str,
        node: &Node,
        object: &Object,
    ) -> Result<(), Status> {
        for dependent in self.graph.dependents(uid) {
            let Some(dependent) = self.graph.get(dependent) else {
                continue;
            };
            let Some(found) = cluster.store().get(&dependent.key) else {
                continue;
            };
            let mut owners = found.owner_references();
            owners.retain(|owner| owner.uid != uid);
            let owners = match owners.is_empty() {
                true => Value::Null,
                false => json!(owners),
            };
            let patch = at_revision(&found, "ownerReferences", &owners);
            let resource = resource_of(&dependent.key, &found);
            match cluster.patch(&resource, &found, patch).await {
                // A dependent that is gone names nobody.
                Err(failure) if failure.code == 404 => {}
                other => other?,
            }
        }
        drop_finalizer(cluster, node, object, "orphan").await
    }
}

/// Whether the owner's kind lives in namespaces; none when the cluster does not know the kind.
fn is_namespaced(cluster: &Client, owner: &OwnerReference) -> Option<bool> {
    let owner = owner.owner_kind();
    let resources = cluster.server().resources();
    let mut resources = resources.iter();
    let found = resources.find(|resource| {
        resource.kind.group() == owner.group() && resource.kind.kind == owner.kind
    })?;
    Some(found.scope == Scope::Namespaced)
}

/// How an object wants to be deleted itself, told by its finalizers.
fn own_propagation(object: &Object) -> &'static str {
    let has = |finalizer: &str| object.finalizers().any(|one| one == finalizer);
    if has("orphan") {
        "Orphan"
    } else if has("foregroundDeletion") {
        "Foreground"
    } else {
        "Background"
    }
}

async fn drop_finalizer(
    cluster: &Client,
    node: &Node,
    object: &Object,
    finalizer: &str,
) -> Result<(), Status> {
    let left: Vec<_> = object
        .finalizers()
        .filter(|one| *one != finalizer)
        .collect();
    let patch = at_revision(object, "finalizers", &json!(left));
    let resource = resource_of(&node.key, object);
    cluster.patch(&resource, object, patch).await
}

/// A patch of a member of the metadata that only fits the object as it was read.
fn at_revision(object: &Object, field: &str, value: &Value) -> Value {
    let revision = text(object.value(), "/metadata/resourceVersion");
    json!({"metadata": {"resourceVersion": revision, field: value}})
}
