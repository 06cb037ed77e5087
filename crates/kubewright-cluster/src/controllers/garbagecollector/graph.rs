//! The graph of owners and dependents.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::OwnerReference;

use crate::framework::text;

/// Objects and their dependents, by uid.
#[derive(Debug, Default)]
pub(super) struct OwnerGraph {
    objects: BTreeMap<String, GraphNode>,
    /// The uids of the dependents of each owner, whether the owner exists or not.
    dependents: BTreeMap<String, BTreeSet<String>>,
}

/// What the collector knows of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GraphNode {
    pub(super) key: Key,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) deletion: DeletionState,
}

/// Whether and how an object is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeletionState {
    /// It is not being deleted.
    Live,
    /// Its dependents are deleted after it.
    Background,
    /// It waits for its dependents.
    Foreground,
    /// It waits until no dependent references it.
    Orphan,
}

impl DeletionState {
    fn of(object: &Object) -> Self {
        let has = |finalizer: &str| object.finalizers().any(|present| present == finalizer);
        if !object.is_terminating() {
            Self::Live
        } else if has("orphan") {
            Self::Orphan
        } else if has("foregroundDeletion") {
            Self::Foreground
        } else {
            Self::Background
        }
    }
}

impl GraphNode {
    pub(super) fn read(key: &Key, object: &Object) -> Self {
        let api_version = text(object.value(), "/apiVersion");
        let group = api_version.split_once('/').map(|(group, _)| group);
        Self {
            key: key.clone(),
            group: group.unwrap_or_default().to_owned(),
            kind: text(object.value(), "/kind").to_owned(),
            owners: object.owner_references(),
            deletion: DeletionState::of(object),
        }
    }

    /// Whether this is the object that a reference of `dependent` names.
    fn is(&self, owner: &OwnerReference, dependent: &Key) -> bool {
        let is_reachable = match self.key.namespace() {
            None => true,
            Some(namespace) => dependent.namespace() == Some(namespace),
        };
        is_reachable
            && self.key.name() == owner.name
            && self.kind == owner.kind
            && self.group == owner.owner_kind().group()
    }
}

impl OwnerGraph {
    /// Adds or replaces an object; returns the node that it replaces.
    pub(super) fn insert(&mut self, uid: &str, node: GraphNode) -> Option<GraphNode> {
        let old = self.objects.insert(uid.to_owned(), node.clone());
        if old.as_ref().is_some_and(|old| old.owners == node.owners) {
            return old;
        }
        if let Some(old) = &old {
            self.unlink(uid, old);
        }
        for owner in &node.owners {
            let dependents = self.dependents.entry(owner.uid.clone()).or_default();
            dependents.insert(uid.to_owned());
        }
        old
    }

    /// Removes an object. Its dependents stay in the graph.
    pub(super) fn remove(&mut self, uid: &str) -> Option<GraphNode> {
        let old = self.objects.remove(uid)?;
        self.unlink(uid, &old);
        Some(old)
    }

    pub(super) fn get(&self, uid: &str) -> Option<&GraphNode> {
        self.objects.get(uid)
    }

    /// The object that a reference of `dependent` names; `None` when it does not exist or lies in
    /// another namespace.
    pub(super) fn owner(&self, owner: &OwnerReference, dependent: &Key) -> Option<&GraphNode> {
        let found = self.objects.get(&owner.uid);
        found.filter(|node| node.is(owner, dependent))
    }

    /// The uids of the objects that name this object as an owner.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &str> {
        let dependents = self.dependents.get(uid).into_iter().flatten();
        dependents.map(String::as_str)
    }

    /// Whether the reference of a dependent blocks this object's deletion.
    pub(super) fn is_blocked(&self, uid: &str) -> bool {
        self.dependents(uid).any(|dependent| {
            let node = self.objects.get(dependent);
            let mut owners = node.into_iter().flat_map(|node| &node.owners);
            owners.any(|owner| owner.uid == uid && owner.block_owner_deletion == Some(true))
        })
    }

    fn unlink(&mut self, uid: &str, node: &GraphNode) {
        for owner in &node.owners {
            if let Some(dependents) = self.dependents.get_mut(&owner.uid) {
                dependents.remove(uid);
                if dependents.is_empty() {
                    self.dependents.remove(&owner.uid);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kubewright_apiserver::store::{Key, Object};
    use kubewright_core::{OwnerReference, Revision};
    use serde_json::{Value, json};

    use super::{DeletionState, GraphNode, OwnerGraph};

    fn node(resource: &str, namespace: Option<&str>, name: &str, metadata: Value) -> GraphNode {
        let kind = if resource == "pods" { "Pod" } else { "Set" };
        let version = if resource == "pods" { "v1" } else { "ex.io/v1" };
        let value = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        let object = Object::new(value, Revision::new(1));
        GraphNode::read(&Key::new(resource, namespace, name), &object)
    }

    fn owner(name: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "ex.io/v2".to_owned(),
            kind: "Set".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    #[test]
    fn owner_is_found_by_uid_name_kind_and_namespace() {
        let mut graph = OwnerGraph::default();
        graph.insert("s", node("sets.ex.io", Some("web"), "set", json!({})));
        graph.insert("c", node("sets.ex.io", None, "global", json!({})));
        let here = Key::new("pods", Some("web"), "p");
        let there = Key::new("pods", Some("db"), "p");
        assert!(graph.owner(&owner("set", "s"), &here).is_some());
        assert!(graph.owner(&owner("set", "s"), &there).is_none());
        assert!(graph.owner(&owner("other", "s"), &here).is_none());
        assert!(graph.owner(&owner("set", "old"), &here).is_none());
        assert!(graph.owner(&owner("global", "c"), &there).is_some());
    }

    #[test]
    fn dependents_follow_changes_of_their_references() {
        let mut graph = OwnerGraph::default();
        let owned = |uid: &str| {
            let metadata = json!({"ownerReferences": [owner("set", uid)]});
            node("pods", Some("web"), "p", metadata)
        };
        graph.insert("p", owned("s"));
        assert_eq!(graph.dependents("s").collect::<Vec<_>>(), ["p"]);
        assert!(graph.is_blocked("s"));
        graph.insert("p", owned("t"));
        assert!(!graph.is_blocked("s"));
        assert_eq!(graph.dependents("t").count(), 1);
        graph.remove("p");
        assert_eq!(graph.dependents("t").count(), 0);
    }

    #[test]
    fn finalizers_decide_the_propagation_of_a_deletion() {
        let deletion = |finalizers: Value| {
            let metadata =
                json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers});
            node("pods", Some("web"), "p", metadata).deletion
        };
        assert_eq!(
            deletion(json!(["foregroundDeletion"])),
            DeletionState::Foreground
        );
        assert_eq!(deletion(json!(["a/b", "orphan"])), DeletionState::Orphan);
        assert_eq!(deletion(json!(["a/b"])), DeletionState::Background);
        let living = node("pods", Some("web"), "p", json!({"finalizers": ["orphan"]}));
        assert_eq!(living.deletion, DeletionState::Live);
    }
}
