use std::borrow::Borrow;
use std::hash::BuildHasher as _;

use hashbrown::DefaultHashBuilder;
use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::Priority;
use super::index::Index;
use super::line::Place;
use super::table::Table;

/// What is known of each key. A key has a slot, which names it for as long as there is something
/// to know, so that places in lines are small and found without hashing.
///
/// A key of which nothing is left to know leaves its slot empty, but the slot keeps its seat in the
/// table: giving it back is a cache miss. When slots run out and more than half of them are empty,
/// all these seats are given back at once. So there are at most twice as many slots, and a chunk,
/// as there were ever keys at one time.
///
/// It has cache lines of its own: most of it is written by those who add alone.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Entries {
    table: Table,
    chunks: Vec<Box<[Entry]>>,
    /// Slots without a seat.
    free: Vec<u32>,
    /// For each slot whether it has a seat and no key.
    empty: Vec<bool>,
    /// How many have.
    empties: usize,
}

/// How many slots are made at once. They never move: a queue that grows copies nothing.
const CHUNK: u32 = 64;

/// A key that is wanted, under way, or has failed; or an empty slot. It is one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Entry {
    pub(super) key: Option<ObjectKey>,
    pub(super) failures: u32,
    /// Where in the list of all keys under way; none without a worker.
    pub(super) work: Option<Index>,
    pub(super) wanted: Wanted,
}

/// Whether a key is to be handed out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Wanted {
    #[default]
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
    Again { priority: Priority, since: Instant },
}

/// A key and its hash, which is computed before the lock is taken: the text of a key is seldom near.
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
    /// The slot of a key, which gets one if it has none.
    pub(super) fn slot(&mut self, Hashed { key, hash }: Hashed<ObjectKey>) -> u32 {
        let mut empty = None;
        for slot in self.table.slots(hash) {
            match &self.get(slot).key {
                Some(other) if *other == key => return slot,
                Some(_) => {}
                None => empty = Some(slot),
            }
        }
        // A key that comes and goes has its own seat again, and does not fill the table.
        let slot = match empty {
            Some(slot) => self.reuse(slot),
            None => self.seat(hash),
        };
        self.at(slot).key = Some(key);
        slot
    }

    /// The slot of a key that has one.
    pub(super) fn find(&self, Hashed { key, hash }: &Hashed<&ObjectKey>) -> Option<u32> {
        self.find_among(self.table.slots(*hash), key)
    }

    /// The slot of a key among these, which are few.
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

    pub(super) fn at(&mut self, slot: u32) -> &mut Entry {
        &mut self.chunks[(slot / CHUNK) as usize][(slot % CHUNK) as usize]
    }

    pub(super) fn wanted(&self, slot: u32) -> Wanted {
        self.get(slot).wanted
    }

    /// Whether the key of this place still stands there.
    pub(super) fn is_live(&self, place: &Place) -> bool {
        let wanted = &self.get(place.slot).wanted;
        matches!(wanted, Wanted::Ready { ticket, .. } if *ticket == place.ticket)
    }

    /// Forgets a key of which nothing is left to know.
    pub(super) fn drop_idle(&mut self, slot: u32) {
        let entry = self.at(slot);
        let is_idle =
            entry.failures == 0 && entry.work.is_none() && matches!(entry.wanted, Wanted::No);
        if is_idle && entry.key.take().is_some() {
            self.empty[slot as usize] = true;
            self.empties += 1;
        }
    }

    /// Wants none of them any more.
    pub(super) fn unwant_all(&mut self) {
        for entry in self.chunks.iter_mut().flat_map(|chunk| chunk.iter_mut()) {
            entry.wanted = Wanted::No;
        }
    }

    /// An empty slot that has a seat.
    fn reuse(&mut self, slot: u32) -> u32 {
        self.empty[slot as usize] = false;
        self.empties -= 1;
        slot
    }

    /// A slot that gets a seat.
    fn seat(&mut self, hash: u32) -> u32 {
        if self.free.is_empty() {
            match self.empties > self.empty.len() / 2 {
                true => self.sweep(),
                false => self.grow(),
            }
        }
        let slot = self.free.pop().expect("there is room for one more");
        self.table.insert(hash, slot);
        slot
    }

    /// Takes the seats of all empty slots away.
    fn sweep(&mut self) {
        let empty = &self.empty;
        self.table.retain(|slot| !empty[slot as usize]);
        // The first slots are taken first: keys that come one after the other are neighbours.
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

    /// Two keys have one hash.
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
    fn an_entry_is_one_cache_line() {
        assert_eq!(size_of::<Entry>(), 64);
    }

    #[test]
    fn keys_that_come_and_go_one_by_one_need_a_few_slots() {
        let hasher = DefaultHashBuilder::default();
        let mut entries = Entries::default();
        for number in 0..100_000 {
            let slot = entries.slot(Hashed::new(key(number), &hasher));
            assert!(slot < 64, "{slot}");
            entries.drop_idle(slot);
        }
    }

    #[test]
    fn a_key_that_is_back_has_its_slot_again_however_many_there_are() {
        let mut entries = Entries::default();
        let slots: Vec<u32> = (0..KEYS).map(|number| slot(&mut entries, number)).collect();
        entries.drop_idle(slots[7]);
        assert_eq!(find(&entries, 7), None);
        assert_eq!(slot(&mut entries, 7), slots[7]);
        assert_eq!(find(&entries, 7), Some(slots[7]));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn a_key_keeps_its_slot_until_nothing_is_left_to_know(
            steps in prop::collection::vec((0..KEYS, prop::bool::weighted(0.53)), 1..2000)
        ) {
            let mut entries = Entries::default();
            let mut known = BTreeMap::new();
            for (number, is_failing) in steps {
                if is_failing {
                    let slot = slot(&mut entries, number);
                    entries.at(slot).failures = 1;
                    prop_assert_eq!(*known.entry(number).or_insert(slot), slot);
                } else if let Some((_, slot)) = known.pop_first() {
                    entries.at(slot).failures = 0;
                    entries.drop_idle(slot);
                }
            }
            for number in 0..KEYS {
                prop_assert_eq!(find(&entries, number), known.get(&number).copied());
            }
        }
    }
}
