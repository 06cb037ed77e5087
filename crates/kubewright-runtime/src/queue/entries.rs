//! The state of each key.

use std::borrow::Borrow;
use std::hash::BuildHasher as _;

use hashbrown::DefaultHashBuilder;
use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::Priority;
use super::index::Index;
use super::lane::Position;
use super::table::Table;

/// The state of each key. A key has a slot while it is queued, is processed or has failures, so that
/// positions in lanes are small and found without hashing.
///
/// Any other key leaves its slot empty, but the slot stays in the table: removing it would be a
/// cache miss. When no slot is free and more than half of the slots are empty, all empty slots
/// are removed from the table at once. So the number of slots is at most one chunk plus twice the
/// maximum number of keys at one time.
///
/// It has cache lines of its own, because most of it is written only when keys are added.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Entries {
    table: Table,
    chunks: Vec<Box<[Entry]>>,
    /// Slots that are not in the table.
    free: Vec<u32>,
    /// For each slot whether it is in the table and has no key.
    empty: Vec<bool>,
    /// The number of such slots.
    empties: usize,
}

/// The number of slots that are allocated at once. They never move: growth copies nothing.
const CHUNK: u32 = 64;

/// A key that is queued, processed, or has failed; or an empty slot. It is one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) key: Option<ObjectKey>,
    pub(super) failures: u32,
    /// The index in the list of keys that are being processed.
    pub(super) work: Option<Index>,
    pub(super) state: KeyState,
}

/// Whether and when a key is handed out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum KeyState {
    /// Not queued.
    #[default]
    Idle,
    /// Waits in a lane.
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
    /// Is processed, and queued again at the end of its run.
    Requeued { priority: Priority, since: Instant },
}

/// A key and its hash, which is computed before the lock is taken: the text of a key is rarely in
/// the processor's cache.
#[derive(Clone, Debug)]
pub(super) struct Hashed<K> {
    pub(super) key: K,
    hash: u32,
}

impl<K: Borrow<ObjectKey>> Hashed<K> {
    pub(super) fn new(key: K, hasher: &DefaultHashBuilder) -> Self {
        let hash = (hasher.hash_one(key.borrow()) >> 32) as u32;
        Self { key, hash }
    }
}

impl Entries {
    /// Returns the slot of a key, or gives it one.
    pub(super) fn slot(&mut self, hashed: Hashed<ObjectKey>) -> u32 {
        let Hashed { key, hash } = hashed;
        let mut empty = None;
        for slot in self.table.slots(hash) {
            match &self.get(slot).key {
                Some(other) if *other == key => return slot,
                Some(_) => {}
                None => empty = Some(slot),
            }
        }
        // A key that comes and goes reuses its slot and does not fill the table.
        let slot = match empty {
            Some(slot) => self.reuse(slot),
            None => self.insert(hash),
        };
        self.get_mut(slot).key = Some(key);
        slot
    }

    /// Returns the slot of a key, if it has one.
    pub(super) fn find(&self, hashed: &Hashed<&ObjectKey>) -> Option<u32> {
        self.find_among(self.table.slots(hashed.hash), hashed.key)
    }

    /// Returns the slot of a key among a few.
    pub(super) fn find_among(
        &self,
        mut slots: impl Iterator<Item = u32>,
        key: &ObjectKey,
    ) -> Option<u32> {
        slots.find(|slot| self.get(*slot).key.as_ref() == Some(key))
    }

    pub(super) fn get(&self, slot: u32) -> &Entry {
        &self.chunks[(slot / CHUNK) as usize][(slot % CHUNK) as usize]
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> &mut Entry {
        &mut self.chunks[(slot / CHUNK) as usize][(slot % CHUNK) as usize]
    }

    pub(super) fn state(&self, slot: u32) -> KeyState {
        self.get(slot).state
    }

    /// Whether the position is that of its key, not a stale one.
    pub(super) fn is_live(&self, position: &Position) -> bool {
        let state = &self.get(position.slot).state;
        matches!(state, KeyState::Ready { ticket, .. } if *ticket == position.ticket)
    }

    /// Removes a key that is neither queued nor processed and has not failed.
    pub(super) fn remove_idle(&mut self, slot: u32) {
        let entry = self.get_mut(slot);
        let has_no_state =
            entry.failures == 0 && entry.work.is_none() && matches!(entry.state, KeyState::Idle);
        if has_no_state && entry.key.take().is_some() {
            self.empty[slot as usize] = true;
            self.empties += 1;
        }
    }

    /// Makes all keys idle.
    pub(super) fn clear_states(&mut self) {
        for entry in self.chunks.iter_mut().flat_map(|chunk| chunk.iter_mut()) {
            entry.state = KeyState::Idle;
        }
    }

    /// Reuses an empty slot that is in the table.
    fn reuse(&mut self, slot: u32) -> u32 {
        self.empty[slot as usize] = false;
        self.empties -= 1;
        slot
    }

    /// Inserts a slot into the table.
    fn insert(&mut self, hash: u32) -> u32 {
        if self.free.is_empty() {
            if self.empties > self.empty.len() / 2 {
                self.sweep();
            } else {
                self.grow();
            }
        }
        let slot = self.free.pop().expect("a sweep or growth frees slots");
        self.table.insert(hash, slot);
        slot
    }

    /// Removes all empty slots from the table.
    fn sweep(&mut self) {
        let empty = &self.empty;
        self.table.retain(|slot| !empty[slot as usize]);
        // The first slots are taken first: keys that are added in succession are neighbors in memory.
        for slot in (0..self.slots()).rev() {
            if std::mem::take(&mut self.empty[slot as usize]) {
                self.free.push(slot);
            }
        }
        self.empties = 0;
    }

    fn grow(&mut self) {
        let first = self.slots();
        let chunk = std::iter::repeat_with(Entry::default).take(CHUNK as usize);
        self.chunks.push(chunk.collect());
        self.free.extend((first..first + CHUNK).rev());
        self.empty.resize(self.empty.len() + CHUNK as usize, false);
        self.table.reserve(self.empty.len());
    }

    fn slots(&self) -> u32 {
        u32::try_from(self.empty.len()).expect("fewer keys than fit into memory")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hashbrown::DefaultHashBuilder;
    use kubewright_core::ObjectKey;
    use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};

    use super::{Entries, Entry, Hashed};

    const KEYS: u32 = 300;

    fn key(number: u32) -> ObjectKey {
        ObjectKey::cluster_scoped(&number.to_string())
    }

    /// Each hash is that of two keys.
    fn hash(number: u32) -> u32 {
        (number % (KEYS / 2)) << 24
    }

    fn slot(entries: &mut Entries, number: u32) -> u32 {
        entries.slot(Hashed {
            key: key(number),
            hash: hash(number),
        })
    }

    fn find(entries: &Entries, number: u32) -> Option<u32> {
        entries.find(&Hashed {
            key: &key(number),
            hash: hash(number),
        })
    }

    #[test]
    fn entry_is_one_cache_line() {
        assert_eq!(size_of::<Entry>(), 64);
    }

    #[test]
    fn keys_that_come_and_go_one_by_one_reuse_a_few_slots() {
        let hasher = DefaultHashBuilder::default();
        let mut entries = Entries::default();
        for number in 0..100_000 {
            let slot = entries.slot(Hashed::new(key(number), &hasher));
            assert!(slot < 64, "{slot}");
            entries.remove_idle(slot);
        }
    }

    #[test]
    fn returning_key_has_its_former_slot_among_many() {
        let mut entries = Entries::default();
        let slots: Vec<u32> = (0..KEYS).map(|number| slot(&mut entries, number)).collect();
        entries.remove_idle(slots[7]);
        assert_eq!(find(&entries, 7), None);
        assert_eq!(slot(&mut entries, 7), slots[7]);
        assert_eq!(find(&entries, 7), Some(slots[7]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn key_keeps_its_slot_while_it_has_a_state(
            steps in prop::collection::vec((0..KEYS, prop::bool::weighted(0.53)), 1..2000)
        ) {
            let mut entries = Entries::default();
            let mut known = BTreeMap::new();
            for (number, is_failing) in steps {
                if is_failing {
                    let slot = slot(&mut entries, number);
                    entries.get_mut(slot).failures = 1;
                    prop_assert_eq!(*known.entry(number).or_insert(slot), slot);
                } else if let Some((_, slot)) = known.pop_first() {
                    entries.get_mut(slot).failures = 0;
                    entries.remove_idle(slot);
                }
            }
            for number in 0..KEYS {
                prop_assert_eq!(find(&entries, number), known.get(&number).copied());
            }
        }
    }
}
