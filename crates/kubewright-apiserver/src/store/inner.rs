//! The state that the handles of a store share.

use std::sync::Arc;

use kubewright_core::Revision;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use super::batch::Batch;
use super::conflict::{Expected, WriteConflict};
#[cfg(feature = "disk")]
use super::disk::DiskWriter;
use super::key::Key;
use super::log::{Change, ChangeKind, Compacted};
use super::object::Object;
use super::state::StoreState;
use super::subscribers::Subscribers;

/// The state of a store and its subscribers.
pub(super) struct StoreInner {
    pub(super) state: Arc<Mutex<StoreState>>,
    pub(super) subscribers: Arc<Subscribers>,
    /// Writes changes to the disk, if the store is on one.
    #[cfg(feature = "disk")]
    pub(super) disk: Option<DiskWriter>,
}

impl StoreInner {
    /// Stores a value, under the lock.
    pub(super) fn put(
        &self,
        mut state: MutexGuard<'_, StoreState>,
        key: Key,
        expected: Expected,
        value: Value,
    ) -> Result<Arc<Object>, WriteConflict> {
        let before = state.check(&key, expected)?;
        if let Some(before) = &before
            && is_equal_except_revision(before.value(), &value)
        {
            return Ok(Arc::clone(before));
        }
        let after = Arc::new(Object::new(value, state.revision.next()));
        state.objects.insert(key.clone(), Arc::clone(&after));
        let kind = match before {
            Some(_) => ChangeKind::Modified,
            None => ChangeKind::Added,
        };
        let change = Change {
            key,
            before,
            after: Arc::clone(&after),
            kind,
        };
        self.record(state, change);
        Ok(after)
    }

    /// Records a change, under the lock.
    pub(super) fn record(&self, mut state: MutexGuard<'_, StoreState>, change: Change) {
        let change = Arc::new(change);
        state.record(Arc::clone(&change));
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            // Under the lock, so that writes reach the disk in order. Subscribers are notified when
            // they are on the disk.
            disk.push(change);
            return;
        }
        drop(state);
        self.subscribers.notify(&change);
    }

    /// The last revision that readers can see: changes that are not on the disk yet can be lost.
    fn visible(&self, state: &StoreState) -> Revision {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.disk {
            return disk.settled();
        }
        state.revision
    }

    /// The log entries after `at` that fill a batch, and the revision up to which they were read.
    pub(super) fn read_log(
        &self,
        at: Revision,
        resource: Option<&str>,
        mut batch: Batch,
    ) -> Result<(Vec<Arc<Change>>, Revision), Compacted> {
        let state = self.state.lock();
        let visible = self.visible(&state);
        let mut found = Vec::new();
        for change in state.log.since(at, resource)? {
            if change.revision() > visible {
                break;
            }
            if resource.is_some_and(|resource| change.key.resource() != resource) {
                continue;
            }
            found.push(Arc::clone(change));
            if batch.is_filled_by(change) {
                return Ok((found, change.revision()));
            }
        }
        Ok((found, visible.max(at)))
    }
}

/// Whether values are equal except for the revision, which a new value does not have yet.
fn is_equal_except_revision(stored: &Value, new: &Value) -> bool {
    let (Some(stored), Some(new)) = (stored.as_object(), new.as_object()) else {
        return stored == new;
    };
    fn members(metadata: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
        let members = metadata.and_then(Value::as_object).into_iter().flatten();
        members.filter(|(name, _)| *name != "resourceVersion")
    }
    stored.len() == new.len()
        && stored.iter().all(|(name, value)| match name.as_str() {
            "metadata" => members(Some(value)).eq(members(new.get(name))),
            _ => new.get(name) == Some(value),
        })
}
