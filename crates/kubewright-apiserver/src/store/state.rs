//! The objects, the revision and the log, behind the lock of the store.

use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;

use super::conflict::{Expected, WriteConflict};
use super::key::Key;
use super::log::{Change, Compacted, Log};
use super::object::Object;
use super::snapshot::Snapshot;

/// The objects, revision and log of a store.
#[derive(Clone)]
pub(super) struct StoreState {
    pub(super) objects: OrdMap<Key, Arc<Object>>,
    pub(super) revision: Revision,
    /// The last write to each resource.
    pub(super) latest: OrdMap<Arc<str>, Revision>,
    pub(super) log: Log,
}

impl StoreState {
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            objects: self.objects.clone(),
            revision: self.revision,
            latest: self.latest.clone(),
        }
    }

    /// The state at a past revision, which the log must hold.
    pub(super) fn snapshot_at(self, revision: Revision) -> Result<Snapshot, Compacted> {
        let mut objects = self.objects;
        let undone: Vec<_> = self.log.since(revision, None)?.collect();
        for change in undone.into_iter().rev() {
            match &change.before {
                Some(before) => objects.insert(change.key.clone(), Arc::clone(before)),
                None => objects.remove(&change.key),
            };
        }
        Ok(Snapshot {
            objects,
            revision,
            latest: self.latest,
        })
    }

    /// The object at a key, if it is as expected.
    pub(super) fn check(
        &self,
        key: &Key,
        expected: Expected,
    ) -> Result<Option<Arc<Object>>, WriteConflict> {
        let current = self.objects.get(key).cloned();
        let found = match &current {
            Some(object) => Expected::At(object.revision()),
            None => Expected::Absent,
        };
        if found == expected {
            Ok(current)
        } else {
            Err(WriteConflict { current })
        }
    }

    /// Adds a change to the log.
    pub(super) fn record(&mut self, change: Arc<Change>) {
        let revision = change.revision();
        self.revision = revision;
        self.latest.insert(change.key.resource().into(), revision);
        self.log.push(change);
    }

    /// Undoes the newest changes. Their revisions are not used again, and readers of the log must
    /// list again. Returns the revision from which they continue.
    #[cfg(feature = "disk")]
    pub(super) fn undo(&mut self, changes: &[Arc<Change>]) -> Revision {
        if changes.is_empty() {
            return self.revision;
        }
        self.revision = self.revision.next();
        for change in changes.iter().rev() {
            match &change.before {
                Some(before) => self.objects.insert(change.key.clone(), Arc::clone(before)),
                None => self.objects.remove(&change.key),
            };
            self.latest
                .insert(change.key.resource().into(), self.revision);
        }
        self.log.restart_at(self.revision);
        self.revision
    }
}
