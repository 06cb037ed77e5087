use std::hash::BuildHasher as _;

use hashbrown::hash_table::Entry as Found;
use hashbrown::{DefaultHashBuilder, HashTable};
use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::Priority;
use super::line::Place;

/// What is known of each key. A key has a slot, which names it for as long as there is something
/// to know, so that places in lines are small and found without hashing. The table holds slots
/// alone: the keys stand in the entries, and each is hashed once.
#[derive(Debug, Default)]
pub(super) struct Entries {
    slots: HashTable<u32>,
    hasher: DefaultHashBuilder,
    entries: Vec<Option<Entry>>,
    /// Slots that can be used again.
    free: Vec<u32>,
}

/// A key that is wanted, under way, or has failed.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: ObjectKey,
    hash: u64,
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
        let hash = self.hasher.hash_one(&key);
        let entries = &self.entries;
        let is_it = |slot: &u32| key_at(entries, *slot) == Some(&key);
        let vacant = match self
            .slots
            .entry(hash, is_it, |slot| hash_at(entries, *slot))
        {
            Found::Occupied(slot) => return *slot.get(),
            Found::Vacant(vacant) => vacant,
        };
        let next = u32::try_from(entries.len()).expect("fewer keys than fit into memory");
        let slot = self.free.pop().unwrap_or(next);
        vacant.insert(slot);
        let entry = Some(Entry {
            key,
            hash,
            failures: 0,
            wanted: Wanted::No,
            work: None,
        });
        match self.entries.get_mut(slot as usize) {
            Some(free) => *free = entry,
            None => self.entries.push(entry),
        }
        slot
    }

    /// The slot of a key that has one.
    pub(super) fn find(&self, key: &ObjectKey) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        let is_it = |slot: &u32| key_at(&self.entries, *slot) == Some(key);
        self.slots.find(hash, is_it).copied()
    }

    /// The slot of a key among these, which are few.
    pub(super) fn find_among(&self, slots: &[u32], key: &ObjectKey) -> Option<u32> {
        let mut slots = slots.iter().copied();
        slots.find(|slot| key_at(&self.entries, *slot) == Some(key))
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
            if let Ok(found) = self.slots.find_entry(entry.hash, |other| *other == slot) {
                found.remove();
            }
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

fn key_at(entries: &[Option<Entry>], slot: u32) -> Option<&ObjectKey> {
    entries.get(slot as usize)?.as_ref().map(|entry| &entry.key)
}

fn hash_at(entries: &[Option<Entry>], slot: u32) -> u64 {
    let entry = entries.get(slot as usize).and_then(Option::as_ref);
    entry.expect("a slot in the table has its entry").hash
}
