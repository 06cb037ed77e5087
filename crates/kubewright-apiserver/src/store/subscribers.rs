//! Notifies readers of the log about writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::Revision;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::log::Change;

/// The readers that wait for writes.
#[derive(Debug)]
pub(super) struct Subscribers {
    revisions: watch::Sender<Revision>,
    /// One sender for each resource with readers: a write notifies only the readers of its resource.
    by_resource: Mutex<BTreeMap<Arc<str>, watch::Sender<Revision>>>,
}

impl Subscribers {
    pub(super) fn new(revision: Revision) -> Self {
        Self {
            revisions: watch::Sender::new(revision),
            by_resource: Mutex::new(BTreeMap::new()),
        }
    }

    /// Subscribes to every write.
    pub(super) fn subscribe(&self) -> watch::Receiver<Revision> {
        self.revisions.subscribe()
    }

    /// Subscribes to the writes to a resource.
    pub(super) fn subscribe_resource(&self, resource: &Arc<str>) -> watch::Receiver<Revision> {
        let mut senders = self.by_resource.lock();
        let sender = senders
            .entry(Arc::clone(resource))
            .or_insert_with(|| watch::Sender::new(Revision::default()));
        sender.subscribe()
    }

    /// Notifies the readers of a write.
    pub(super) fn notify(&self, change: &Change) {
        let revision = change.revision();
        // Writers can get here in any order, and revisions must not decrease for a reader.
        let advance = |current: &mut Revision| {
            let is_later = revision > *current;
            if is_later {
                *current = revision;
            }
            is_later
        };
        self.revisions.send_if_modified(advance);
        let mut senders = self.by_resource.lock();
        let resource = change.key.resource();
        if let Some(sender) = senders.get(resource) {
            if sender.receiver_count() == 0 {
                senders.remove(resource);
            } else {
                sender.send_if_modified(advance);
            }
        }
    }
}
