use std::collections::{BTreeMap, BTreeSet};

use kubewright_core::OwnerReference;

use super::Event;
use kubewright_apiserver::store::{Key, Object};

/// Objects of one resource by the uid of the controller that owns them, and those that none owns.
#[derive(Debug, Default)]
pub(super) struct Owned {
    by_owner: BTreeMap<String, BTreeSet<Key>>,
    /// By namespace.
    orphans: BTreeMap<String, BTreeSet<Key>>,
}

impl Owned {
    /// Notes a change of one of the objects.
    pub(super) fn observe(&mut self, event: &Event<'_>) {
        if let Some(before) = event.before {
            let (index, name) = self.place(before);
            if let Some(keys) = index.get_mut(&name) {
                keys.remove(event.key);
                if keys.is_empty() {
                    index.remove(&name);
                }
            }
        }
        if let Some(now) = event.now {
            let (index, name) = self.place(now);
            index.entry(name).or_default().insert(event.key.clone());
        }
    }

    /// The objects that the controller with this uid owns.
    pub(super) fn of(&self, owner: &str) -> impl Iterator<Item = &Key> {
        self.by_owner.get(owner).into_iter().flatten()
    }

    /// The objects of a namespace that no controller owns.
    pub(super) fn orphans(&self, namespace: &str) -> impl Iterator<Item = &Key> {
        self.orphans.get(namespace).into_iter().flatten()
    }

    fn place(&mut self, object: &Object) -> (&mut BTreeMap<String, BTreeSet<Key>>, String) {
        match controller_of(object) {
            Some(owner) => (&mut self.by_owner, owner.uid),
            None => (
                &mut self.orphans,
                object.namespace().unwrap_or_default().to_owned(),
            ),
        }
    }
}

/// The controller that owns an object.
pub(super) fn controller_of(object: &Object) -> Option<OwnerReference> {
    let mut owners = object.owner_references().into_iter();
    owners.find(OwnerReference::is_controller)
}
