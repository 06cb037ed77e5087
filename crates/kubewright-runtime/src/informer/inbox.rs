use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;

use imbl::OrdMap;
use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

use super::Notification;
use crate::store::ChangeEvent;

/// What one subscriber has not fetched yet.
///
/// Never more than one change per object: its size is bounded by the objects that were there when
/// the subscriber last looked and those that are there now.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    /// The state that was there at the beginning, handed out first.
    replay: Option<Replay>,
    /// Whether the end of the first list is still to be told.
    synced: Synced,
    /// Which change comes next: by the time of the first one of its key.
    order: BTreeMap<u64, ObjectKey>,
    changes: HashMap<ObjectKey, Change>,
    received: u64,
    /// Events of one change that is two: an object gone, another of its name there.
    split: VecDeque<ChangeEvent>,
    closed: bool,
}

#[derive(Debug)]
struct Replay {
    objects: OrdMap<ObjectKey, Record>,
    last: Option<ObjectKey>,
    is_initial: bool,
}

#[derive(Debug, Default, PartialEq)]
enum Synced {
    #[default]
    NotYet,
    Due,
    Told,
}

#[derive(Debug)]
struct Change {
    number: u64,
    old: Option<Record>,
    new: Option<Record>,
}

impl Inbox {
    /// Everything in `objects` is new to the subscriber.
    pub(super) fn fill(&mut self, objects: &OrdMap<ObjectKey, Record>) {
        if self.is_empty() {
            self.replay = Some(Replay {
                objects: objects.clone(),
                last: None,
                is_initial: self.synced == Synced::NotYet,
            });
            return;
        }
        // Word of former objects still waits, and may be about the same names.
        for (key, record) in objects {
            self.push(ChangeEvent {
                key: key.clone(),
                old: None,
                new: Some(record.clone()),
                is_initial: false,
            });
        }
    }

    /// Everything in `objects` is told again; what waits is told anyway.
    pub(super) fn repeat(&mut self, objects: &OrdMap<ObjectKey, Record>) {
        if self.replay.is_some() || self.synced != Synced::Told {
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

    /// The first list has been taken in.
    pub(super) fn sync(&mut self) {
        if self.synced == Synced::NotYet {
            self.synced = Synced::Due;
        }
    }

    /// Whether nothing waits to be fetched.
    fn is_empty(&self) -> bool {
        self.replay.is_none() && self.changes.is_empty() && self.split.is_empty()
    }

    /// One more change, joined with one of the same object that waits.
    pub(super) fn push(&mut self, event: ChangeEvent) {
        if let Some(change) = self.changes.get_mut(&event.key) {
            change.new = event.new;
            if change.old.is_none() && change.new.is_none() {
                // Came and went unseen.
                self.order.remove(&change.number);
                self.changes.remove(&event.key);
            }
            return;
        }
        self.received += 1;
        self.order.insert(self.received, event.key.clone());
        let change = Change {
            number: self.received,
            old: event.old,
            new: event.new,
        };
        self.changes.insert(event.key, change);
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// What the subscriber hears next.
    pub(super) fn pop(&mut self) -> Option<Notification> {
        loop {
            if let Some(event) = self.split.pop_front() {
                return Some(Notification::Change(event));
            }
            if let Some(event) = self.pop_replay() {
                return Some(Notification::Change(event));
            }
            if self.synced == Synced::Due {
                self.synced = Synced::Told;
                return Some(Notification::Synced);
            }
            let (_, key) = self.order.pop_first()?;
            if let Some(change) = self.changes.remove(&key) {
                self.split
                    .extend(ChangeEvent::between(key, change.old, change.new));
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
