//! A subscription to the changes of an informer's objects.

use std::fmt;
use std::sync::Arc;

use super::keep_alive::KeepAlive;
use super::notification::Notification;
use super::subscribers::Mailbox;
use crate::store::Store;

/// The changes of an informer's objects, beginning with the initial state.
///
/// Changes of one object arrive in order. A subscriber that falls behind receives one change per
/// object, from the state that it last received to the current one. An object that was created and
/// deleted in between is not mentioned. The store is always at least as new as the notification.
pub struct Subscription {
    mailbox: Arc<Mailbox>,
    store: Store,
    _keep_alive: Arc<KeepAlive>,
}

impl Subscription {
    pub(super) fn new(mailbox: Arc<Mailbox>, store: Store, keep_alive: Arc<KeepAlive>) -> Self {
        Self {
            mailbox,
            store,
            _keep_alive: keep_alive,
        }
    }

    /// Delivers every object once more, after the pending changes, as a change whose old and new
    /// state are equal. An informer never does this by itself: without this call a subscriber
    /// receives only real changes.
    pub fn replay(&self) {
        let snapshot = self.store.snapshot();
        self.mailbox
            .update(|buffer| buffer.repeat(snapshot.delivered()));
    }

    /// Waits for the next notification. Returns none after the informer has stopped and all
    /// notifications were fetched.
    ///
    /// # Cancel safety
    ///
    /// No notification is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Notification> {
        loop {
            let filled = self.mailbox.filled.notified();
            {
                let mut buffer = self.mailbox.buffer.lock();
                if let Some(notification) = buffer.pop() {
                    return Some(notification);
                }
                if buffer.is_closed() {
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
