use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Informer;
use super::inbox::Inbox;
use crate::store::ChangeEvent;

/// What a subscriber hears.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Notification {
    /// An object has changed.
    Change(ChangeEvent),
    /// The state at the beginning has been told whole. Comes once.
    Synced,
}

/// The changes of an informer's objects, from the state at the beginning on.
///
/// Changes of one object come in their order. A subscriber that falls behind hears of an object
/// once, with all that has happened to it since it last heard; an object that came and went in
/// between is not mentioned. The store is always at least as new as the notice.
pub struct Subscription {
    pub(super) shared: Arc<Shared>,
    informer: Informer,
}

pub(super) struct Shared {
    pub(super) inbox: Mutex<Inbox>,
    pub(super) filled: Notify,
}

impl Shared {
    /// Changes the inbox and wakes the subscriber.
    pub(super) fn fill(&self, fill: impl FnOnce(&mut Inbox)) {
        fill(&mut self.inbox.lock());
        self.filled.notify_one();
    }
}

impl Subscription {
    pub(super) fn new(inbox: Inbox, informer: Informer) -> Self {
        Self {
            informer,
            shared: Arc::new(Shared {
                inbox: Mutex::new(inbox),
                filled: Notify::new(),
            }),
        }
    }

    /// Tells of every object once more, as a change whose old and new state are the same, after
    /// what waits already. Nobody does this unasked: a subscriber hears of real changes only.
    pub fn replay(&self) {
        let snapshot = self.informer.store().snapshot();
        self.shared.fill(|inbox| inbox.repeat(snapshot.delivered()));
    }

    /// The next notice; none once the informer has stopped and everything was fetched.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, no notice is lost.
    pub async fn next(&mut self) -> Option<Notification> {
        loop {
            let filled = self.shared.filled.notified();
            {
                let mut inbox = self.shared.inbox.lock();
                if let Some(notice) = inbox.pop() {
                    return Some(notice);
                }
                if inbox.is_closed() {
                    return None;
                }
            }
            filled.await;
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}
