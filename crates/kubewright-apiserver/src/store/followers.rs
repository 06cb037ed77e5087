use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::Change;

/// Those who wait for writes.
#[derive(Debug)]
pub(super) struct Followers {
    revisions: watch::Sender<Revision>,
    /// One sender for each resource that somebody follows: a write wakes only its followers.
    by_resource: Mutex<BTreeMap<Arc<str>, watch::Sender<Revision>>>,
}

impl Followers {
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            revisions: watch::Sender::new(revision),
            by_resource: Mutex::new(BTreeMap::new()),
        }
    }

    /// Waits for every write.
    pub(super) fn of_all(&self) -> watch::Receiver<Revision> {
        self.revisions.subscribe()
    }

    /// Waits for the writes to a resource.
    pub(super) fn of(&self, resource: &Arc<str>) -> watch::Receiver<Revision> {
        let mut senders = self.by_resource.lock();
        let sender = senders
            .entry(Arc::clone(resource))
            .or_insert_with(|| watch::Sender::new(Revision::default()));
        sender.subscribe()
    }

    /// Tells of writes.
    #[cfg(feature = "disk")]
    pub(super) fn announce(&self, changes: &[Arc<Change>]) {
        for change in changes {
            self.announce_one(change);
        }
    }

    /// Tells of a write.
    pub(super) fn announce_one(&self, change: &Change) {
        let revision = change.revision();
        // Two writers may get here in either order; a receiver must not see time go back.
        let forward = |seen: &mut Revision| {
            let later = revision > *seen;
            if later {
                *seen = revision;
            }
            later
        };
        self.revisions.send_if_modified(forward);
        let mut senders = self.by_resource.lock();
        let resource = change.key.resource();
        if let Some(sender) = senders.get(resource) {
            if sender.receiver_count() == 0 {
                senders.remove(resource);
            } else {
                sender.send_if_modified(forward);
            }
        }
    }
}
