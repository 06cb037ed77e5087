//! Objects by the controller that owns them.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_apiserver::store::{Key, Object};
use kubewright_core::OwnerReference;

use super::control_loop::ObjectChange;

/// Objects of one resource by the uid of the controller that owns them, and the orphans.
#[derive(Debug, Default)]
pub(crate) struct OwnerIndex {
    by_owner: BTreeMap<String, BTreeSet<Key>>,
    /// The objects without a controller, by namespace.
    orphans: BTreeMap<String, BTreeSet<Key>>,
}

impl OwnerIndex {
    /// Updates the index with a change of one of the objects.
    pub(crate) fn observe(&mut self, change: &ObjectChange<'_>) {
        if let Some(before) = change.before {
            let (index, name) = self.entry_of(before);
            if let Some(keys) = index.get_mut(&name) {
                keys.remove(change.key);
                if keys.is_empty() {
                    index.remove(&name);
                }
            }
        }
        if let Some(after) = change.after {
            let (index, name) = self.entry_of(after);
            index.entry(name).or_default().insert(change.key.clone());
        }
    }

    /// The objects that the controller with this uid owns.
    pub(crate) fn owned_by(&self, uid: &str) -> impl Iterator<Item = &Key> {
        self.by_owner.get(uid).into_iter().flatten()
    }

    /// The objects of a namespace that no controller owns.
    pub(crate) fn orphans(&self, namespace: &str) -> impl Iterator<Item = &Key> {
        self.orphans.get(namespace).into_iter().flatten()
    }

    /// The map that holds an object, and the object's key in it.
    fn entry_of(&mut self, object: &Object) -> (&mut BTreeMap<String, BTreeSet<Key>>, String) {
        match controller_of(object) {
            Some(owner) => (&mut self.by_owner, owner.uid),
            None => (
                &mut self.orphans,
                object.namespace().unwrap_or_default().to_owned(),
            ),
        }
    }
}

/// The owner reference of the controller that owns an object.
pub(crate) fn controller_of(object: &Object) -> Option<OwnerReference> {
    let mut owners = object.owner_references().into_iter();
    owners.find(OwnerReference::is_controller)
}
