//! The undelivered notifications of one subscriber.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;

use imbl::OrdMap;
use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

use super::notification::Notification;
use crate::store::ChangeEvent;

/// The notifications that one subscriber has not fetched yet.
///
/// Changes of one object are merged into one. So the size is bounded by the number of objects that
/// existed when the subscriber last fetched, and of those that exist now.
#[derive(Debug, Default)]
pub(super) struct EventBuffer {
    /// The initial state, which is delivered first.
    replay: Option<Replay>,
    /// Whether the end of the initial state was announced.
    synced: SyncNotice,
    /// The keys of the pending changes, by the time of the first change of each key.
    order: BTreeMap<u64, ObjectKey>,
    changes: HashMap<ObjectKey, PendingChange>,
    received: u64,
    /// The events of a change that replaced an object with another of the same name.
    split: VecDeque<ChangeEvent>,
    is_closed: bool,
}

#[derive(Debug)]
struct Replay {
    objects: OrdMap<ObjectKey, Record>,
    last: Option<ObjectKey>,
    is_initial: bool,
}

#[derive(Debug, Default, PartialEq)]
enum SyncNotice {
    #[default]
    NotSynced,
    Pending,
    Delivered,
}

#[derive(Debug)]
struct PendingChange {
    number: u64,
    old: Option<Record>,
    new: Option<Record>,
}

impl EventBuffer {
    /// Adds objects that are all new to the subscriber.
    pub(super) fn fill(&mut self, objects: &OrdMap<ObjectKey, Record>) {
        if self.is_empty() {
            self.replay = Some(Replay {
                objects: objects.clone(),
                last: None,
                is_initial: self.synced == SyncNotice::NotSynced,
            });
            return;
        }
        // Changes of former objects are still pending and can have the same keys.
        for (key, record) in objects {
            self.push(ChangeEvent {
                key: key.clone(),
                old: None,
                new: Some(record.clone()),
                is_initial: false,
            });
        }
    }

    /// Adds an event without a change for each object. Keys with a pending event are left out.
    pub(super) fn repeat(&mut self, objects: &OrdMap<ObjectKey, Record>) {
        if self.replay.is_some() || self.synced != SyncNotice::Delivered {
            return;
        }
        for (key, record) in objects {
            if !self.changes.contains_key(key) {
                self.push(ChangeEvent {
                    key: key.clone(),
                    old: Some(record.clone()),
                    new: Some(record.clone()),
                    is_initial: false,
                });
            }
        }
    }

    /// Announces the end of the initial state, once.
    pub(super) fn sync(&mut self) {
        if self.synced == SyncNotice::NotSynced {
            self.synced = SyncNotice::Pending;
        }
    }

    fn is_empty(&self) -> bool {
        self.replay.is_none() && self.changes.is_empty() && self.split.is_empty()
    }

    /// Adds a change and merges it with a pending change of the same object.
    pub(super) fn push(&mut self, event: ChangeEvent) {
        if let Some(change) = self.changes.get_mut(&event.key) {
            change.new = event.new;
            if change.old.is_none() && change.new.is_none() {
                // Created and deleted before the subscriber saw it.
                self.order.remove(&change.number);
                self.changes.remove(&event.key);
            }
            return;
        }
        self.received += 1;
        self.order.insert(self.received, event.key.clone());
        let change = PendingChange {
            number: self.received,
            old: event.old,
            new: event.new,
        };
        self.changes.insert(event.key, change);
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The next notification.
    pub(super) fn pop(&mut self) -> Option<Notification> {
        loop {
            if let Some(event) = self.split.pop_front() {
                return Some(Notification::Change(event));
            }
            if let Some(event) = self.pop_replay() {
                return Some(Notification::Change(event));
            }
            if self.synced == SyncNotice::Pending {
                self.synced = SyncNotice::Delivered;
                return Some(Notification::Synced);
            }
            let (_, key) = self.order.pop_first()?;
            if let Some(change) = self.changes.remove(&key) {
                let events = ChangeEvent::between(key, change.old, change.new);
                self.split.extend(events);
            }
        }
    }

    fn pop_replay(&mut self) -> Option<ChangeEvent> {
        let replay = self.replay.as_mut()?;
        let from = match &replay.last {
            Some(last) => Bound::Excluded(last),
            None => Bound::Unbounded,
        };
        let next = replay
            .objects
            .range::<_, ObjectKey>((from, Bound::Unbounded))
            .next();
        let Some((key, record)) = next.map(|(key, record)| (key.clone(), record.clone())) else {
            self.replay = None;
            return None;
        };
        replay.last = Some(key.clone());
        Some(ChangeEvent {
            key,
            old: None,
            new: Some(record),
            is_initial: replay.is_initial,
        })
    }
}
