use std::collections::HashMap;

use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::Priority;
use super::line::Place;

/// What is known of each key. A key has a slot, which names it for as long as there is something
/// to know, so that places in lines are small and found without hashing.
#[derive(Debug, Default)]
pub(super) struct Entries {
    slots: HashMap<ObjectKey, u32>,
    entries: Vec<Option<Entry>>,
    /// Slots that can be used again.
    free: Vec<u32>,
}

/// A key that is wanted, under way, or has failed.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: ObjectKey,
    pub(super) failures: u32,
    pub(super) wanted: Wanted,
    pub(super) work: Option<Work>,
}

/// Whether a key is to be handed out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    No,
    /// Stands in line.
    Ready {
        priority: Priority,
        since: Instant,
        ticket: u64,
    },
    /// Waits for the end of a delay.
    Delayed {
        priority: Priority,
        at: Instant,
        ticket: u64,
    },
    /// Under way, and stands in line as soon as that is done.
    Again {
        priority: Priority,
        since: Instant,
    },
}

/// A key with a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) priority: Priority,
    pub(super) since: Instant,
    /// Where in the list of all keys under way.
    pub(super) index: usize,
}

impl Entries {
    /// The slot of a key, which gets one if it has none.
    pub(super) fn slot(&mut self, key: ObjectKey) -> u32 {
        if let Some(slot) = self.slots.get(&key) {
            return *slot;
        }
        let entry = Some(Entry {
            key: key.clone(),
            failures: 0,
            wanted: Wanted::No,
            work: None,
        });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                u32::try_from(self.entries.len() - 1).expect("fewer keys than fit into memory")
            }
        };
        self.slots.insert(key, slot);
        slot
    }

    /// The slot of a key that has one.
    pub(super) fn find(&self, key: &ObjectKey) -> Option<u32> {
        self.slots.get(key).copied()
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Entry> {
        self.entries.get(slot as usize)?.as_ref()
    }

    /// The entry of a slot that is in use.
    pub(super) fn at(&mut self, slot: u32) -> &mut Entry {
        self.entries[slot as usize]
            .as_mut()
            .expect("a slot that is known has its entry")
    }

    pub(super) fn wanted(&self, slot: u32) -> Wanted {
        self.get(slot).map_or(Wanted::No, |entry| entry.wanted)
    }

    /// Whether the key of this place still stands there.
    pub(super) fn is_live(&self, place: &Place) -> bool {
        let wanted = self.wanted(place.slot);
        matches!(wanted, Wanted::Ready { ticket, .. } if ticket == place.ticket)
    }

    /// Forgets a key of which nothing is left to know.
    pub(super) fn drop_idle(&mut self, slot: u32) {
        let entry = self.at(slot);
        let is_idle =
            entry.failures == 0 && entry.work.is_none() && matches!(entry.wanted, Wanted::No);
        if is_idle && let Some(entry) = self.entries[slot as usize].take() {
            self.slots.remove(&entry.key);
            self.free.push(slot);
        }
    }

    /// Wants none of them any more.
    pub(super) fn unwant_all(&mut self) {
        for entry in self.entries.iter_mut().flatten() {
            entry.wanted = Wanted::No;
        }
    }
}
