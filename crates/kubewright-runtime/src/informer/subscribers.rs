//! The subscribers of an informer, and the mailbox of each.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::event_buffer::EventBuffer;

/// The notifications of one subscriber, shared by the informer and the subscription.
pub(super) struct Mailbox {
    pub(super) buffer: Mutex<EventBuffer>,
    pub(super) filled: Notify,
}

impl Mailbox {
    pub(super) fn new(buffer: EventBuffer) -> Self {
        Self {
            buffer: Mutex::new(buffer),
            filled: Notify::new(),
        }
    }

    /// Changes the buffer and wakes the subscriber.
    pub(super) fn update(&self, change: impl FnOnce(&mut EventBuffer)) {
        change(&mut self.buffer.lock());
        self.filled.notify_one();
    }
}

/// The mailboxes of all subscribers.
#[derive(Default)]
pub(super) struct Subscribers {
    mailboxes: Vec<Weak<Mailbox>>,
    /// Whether the informer has stopped.
    pub(super) is_closed: bool,
}

impl Subscribers {
    pub(super) fn add(&mut self, mailbox: &Arc<Mailbox>) {
        self.mailboxes.push(Arc::downgrade(mailbox));
    }

    /// Changes the buffer of every subscriber and removes those that were dropped.
    pub(super) fn update_all(&mut self, change: impl Fn(&mut EventBuffer)) {
        self.mailboxes.retain(|mailbox| {
            let Some(mailbox) = mailbox.upgrade() else {
                return false;
            };
            mailbox.update(&change);
            true
        });
    }
}
