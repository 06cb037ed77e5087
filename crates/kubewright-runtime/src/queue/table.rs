//! A hash table from the hashes of keys to slots.

use super::index::Index;

/// A hash table with open addressing from hashes to slots.
///
/// An entry is in the bucket of its hash or in one of the next, so that a lookup is one cache miss.
/// Entries are not removed individually, which would be another cache miss for each key.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// At least half of the buckets are empty.
    buckets: Vec<Option<Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    hash: u32,
    slot: Index,
}

impl Table {
    /// Returns the slots with this hash.
    pub(super) fn slots(&self, hash: u32) -> impl Iterator<Item = u32> {
        let (before, from) = self.buckets.split_at(self.start(hash));
        let buckets = from.iter().chain(before).map_while(|bucket| *bucket);
        let buckets = buckets.filter(move |bucket| bucket.hash == hash);
        buckets.map(|bucket| bucket.slot.get())
    }

    /// Inserts a slot. [`reserve`](Self::reserve) must have made room for it.
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        let start = self.start(hash);
        let (before, from) = self.buckets.split_at_mut(start);
        let empty = from
            .iter_mut()
            .chain(before)
            .find(|bucket| bucket.is_none());
        let bucket = empty.expect("at least half of the buckets are empty");
        let slot = Index::new(slot);
        *bucket = Some(Bucket { hash, slot });
    }

    /// Makes room for this number of slots in total.
    pub(super) fn reserve(&mut self, slots: usize) {
        if self.buckets.len() >= 2 * slots {
            return;
        }
        let old = std::mem::replace(&mut self.buckets, vec![None; 4 * slots]);
        for Bucket { hash, slot } in old.into_iter().flatten() {
            self.insert(hash, slot.get());
        }
    }

    /// Removes the slots for which `keep` is false.
    ///
    /// No entry is beyond an empty bucket after the bucket of its hash. Starting at an empty bucket,
    /// each entry that is inserted again ends in a bucket that was already visited, or in its own.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let Some(gap) = self.buckets.iter().position(Option::is_none) else {
            return;
        };
        for index in (gap..self.buckets.len()).chain(0..gap) {
            if let Some(Bucket { hash, slot }) = self.buckets[index].take()
                && keep(slot.get())
            {
                self.insert(hash, slot.get());
            }
        }
    }

    /// The bucket of a hash. Buckets are in the order of hashes for every size of the table, so that
    /// inserting all entries again accesses memory in order.
    fn start(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.buckets.len() as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Bucket, Table};

    fn slots(table: &Table, hash: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = table.slots(hash).collect();
        slots.sort();
        slots
    }

    #[test]
    fn bucket_has_eight_bytes() {
        assert_eq!(size_of::<Option<Bucket>>(), 8);
    }

    #[test]
    fn empty_table_has_no_slots() {
        assert!(slots(&Table::default(), u32::MAX).is_empty());
    }

    #[test]
    fn slots_of_a_hash_are_found_behind_others_and_behind_the_end() {
        let mut table = Table::default();
        table.reserve(4);
        for (slot, hash) in [u32::MAX, u32::MAX - 1, u32::MAX, 0]
            .into_iter()
            .enumerate()
        {
            table.insert(hash, u32::try_from(slot).unwrap());
        }
        assert_eq!(slots(&table, u32::MAX), [0, 2]);
        assert_eq!(slots(&table, u32::MAX - 1), [1]);
        assert_eq!(slots(&table, 0), [3]);
    }

    #[test]
    fn growth_preserves_all_slots_and_retain_the_kept_ones() {
        let hash = |slot: u32| (slot % 10) << 28;
        let mut table = Table::default();
        for slot in 0..100 {
            table.reserve(slot as usize + 1);
            table.insert(hash(slot), slot);
        }
        let all = [3, 13, 23, 33, 43, 53, 63, 73, 83, 93];
        assert_eq!(slots(&table, hash(3)), all);
        table.retain(|slot| slot > 80);
        assert_eq!(slots(&table, hash(3)), [83, 93]);
    }

    /// Of sixteen buckets the last and the first five are full: three slots have the hash of the
    /// last one.
    #[test]
    fn kept_slots_are_found_behind_the_end_for_every_set_of_removed_ones() {
        let hashes = [u32::MAX, u32::MAX, u32::MAX, 0, 1 << 28, 0];
        for kept in 0..1_u32 << hashes.len() {
            let is_kept = |slot: u32| kept & (1 << slot) != 0;
            let mut table = Table::default();
            table.reserve(4);
            for (slot, hash) in (0..).zip(hashes) {
                table.insert(hash, slot);
            }
            table.retain(is_kept);
            for hash in hashes {
                let expected: Vec<u32> = (0..)
                    .zip(hashes)
                    .filter(|(slot, other)| *other == hash && is_kept(*slot))
                    .map(|(slot, _)| slot)
                    .collect();
                assert_eq!(slots(&table, hash), expected, "{kept:b}");
            }
        }
    }
}
