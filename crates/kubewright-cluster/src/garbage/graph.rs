use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::OwnerReference;

use kubewright_apiserver::store::{Key, Object};

/// Who owns whom, by uid.
#[derive(Debug, Default)]
pub(super) struct Graph {
    objects: BTreeMap<String, Node>,
    /// The uids of objects that name an owner, whether it is there or not.
    dependents: BTreeMap<String, BTreeSet<String>>,
}

/// What the collector knows of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) key: Key,
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) owners: Vec<OwnerReference>,
    pub(super) deletion: Deletion,
}

/// Whether and how an object is being deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deletion {
    None,
    /// Its dependents are deleted after it, if at all.
    Background,
    /// It waits for its dependents.
    Foreground,
    /// It waits until its dependents no longer name it.
    Orphan,
}

impl Node {
    pub(super) fn read(key: &Key, object: &Object) -> Self {
        let value = object.value();
        let text = |field: &str| value.get(field).and_then(|text| text.as_str());
        let group = text("apiVersion").and_then(|version| Some(version.split_once('/')?.0));
        let has = |finalizer: &str| object.finalizers().any(|one| one == finalizer);
        let deletion = match object.is_terminating() {
            false => Deletion::None,
            true if has("orphan") => Deletion::Orphan,
            true if has("foregroundDeletion") => Deletion::Foreground,
            true => Deletion::Background,
        };
        Self {
            key: key.clone(),
            group: group.unwrap_or_default().to_owned(),
            kind: text("kind").unwrap_or_default().to_owned(),
            owners: object.owner_references(),
            deletion,
        }
    }

    /// Whether this is the object that a reference names, when `dependent` holds the reference.
    fn is(&self, owner: &OwnerReference, dependent: &Key) -> bool {
        let reachable = match self.key.namespace() {
            None => true,
            Some(namespace) => dependent.namespace() == Some(namespace),
        };
        reachable
            && self.key.name() == owner.name
            && self.kind == owner.kind
            && self.group == owner.owner_kind().group()
    }
}

impl Graph {
    /// Puts an object in its place; returns what was known of it before.
    pub(super) fn insert(&mut self, uid: &str, node: Node) -> Option<Node> {
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

    /// Takes an object out; its dependents stay known.
    pub(super) fn remove(&mut self, uid: &str) -> Option<Node> {
        let old = self.objects.remove(uid)?;
        self.unlink(uid, &old);
        Some(old)
    }

    pub(super) fn get(&self, uid: &str) -> Option<&Node> {
        self.objects.get(uid)
    }

    /// The object that a reference names, when it is there and within reach of the dependent.
    pub(super) fn owner(&self, owner: &OwnerReference, dependent: &Key) -> Option<&Node> {
        let found = self.objects.get(&owner.uid);
        found.filter(|node| node.is(owner, dependent))
    }

    /// The uids of what names this object as an owner.
    pub(super) fn dependents(&self, uid: &str) -> impl Iterator<Item = &str> {
        let dependents = self.dependents.get(uid).into_iter().flatten();
        dependents.map(String::as_str)
    }

    /// Whether a dependent's reference blocks this object's deletion.
    pub(super) fn is_blocked(&self, uid: &str) -> bool {
        self.dependents(uid).any(|dependent| {
            let owners = self.objects.get(dependent).map(|node| node.owners.iter());
            let mut owners = owners.into_iter().flatten();
            owners.any(|owner| owner.uid == uid && owner.block_owner_deletion == Some(true))
        })
    }

    fn unlink(&mut self, uid: &str, node: &Node) {
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
    use kubewright_core::{OwnerReference, Revision};
    use serde_json::{Value, json};

    use super::{Deletion, Graph, Node};
    use kubewright_apiserver::store::{Key, Object};

    fn node(resource: &str, namespace: Option<&str>, name: &str, metadata: Value) -> Node {
        let kind = if resource == "pods" { "Pod" } else { "Set" };
        let version = if resource == "pods" { "v1" } else { "ex.io/v1" };
        let value = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
        let object = Object::new(value, Revision::new(1));
        Node::read(&Key::new(resource, namespace, name), &object)
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
    fn an_owner_is_found_by_uid_name_kind_and_reach() {
        let mut graph = Graph::default();
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
        let mut graph = Graph::default();
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
    fn finalizers_tell_how_an_object_is_deleted() {
        let deletion = |finalizers: Value| {
            let metadata =
                json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers});
            node("pods", Some("web"), "p", metadata).deletion
        };
        assert_eq!(
            deletion(json!(["foregroundDeletion"])),
            Deletion::Foreground
        );
        assert_eq!(deletion(json!(["a/b", "orphan"])), Deletion::Orphan);
        assert_eq!(deletion(json!(["a/b"])), Deletion::Background);
        let living = node("pods", Some("web"), "p", json!({"finalizers": ["orphan"]}));
        assert_eq!(living.deletion, Deletion::None);
    }
}
