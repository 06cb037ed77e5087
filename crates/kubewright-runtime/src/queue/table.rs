use super::index::Index;

/// Which slots have which hash.
///
/// A seat is where its hash asks for it, or behind that, so that looking for a hash is one cache
/// miss. Seats are never given back one by one: that would be one more for each key.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// At least half of them are free.
    seats: Vec<Option<Seat>>,
}

#[derive(Clone, Copy, Debug)]
struct Seat {
    hash: u32,
    slot: Index,
}

impl Table {
    /// The slots with this hash.
    pub(super) fn slots(&self, hash: u32) -> impl Iterator<Item = u32> {
        let (before, from) = self.seats.split_at(self.start(hash));
        let seats = from.iter().chain(before).map_while(|seat| *seat);
        let seats = seats.filter(move |seat| seat.hash == hash);
        seats.map(|seat| seat.slot.get())
    }

    /// Gives a slot its seat, once there is room for it.
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        let start = self.start(hash);
        let (before, from) = self.seats.split_at_mut(start);
        let free = from.iter_mut().chain(before).find(|seat| seat.is_none());
        let free = free.expect("at least half of the seats are free");
        let slot = Index::new(slot);
        *free = Some(Seat { hash, slot });
    }

    /// Makes room for so many slots in all.
    pub(super) fn reserve(&mut self, slots: usize) {
        if self.seats.len() >= 2 * slots {
            return;
        }
        let former = std::mem::replace(&mut self.seats, vec![None; 4 * slots]);
        for Seat { hash, slot } in former.into_iter().flatten() {
            self.insert(hash, slot.get());
        }
    }

    /// Takes the seats of all other slots away.
    ///
    /// No seat was pushed past a free one: from there on, whoever is seated anew finds a place that
    /// was passed already, or its own.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let Some(gap) = self.seats.iter().position(Option::is_none) else {
            return;
        };
        for index in (gap..self.seats.len()).chain(0..gap) {
            if let Some(Seat { hash, slot }) = self.seats[index].take()
                && keep(slot.get())
            {
                self.insert(hash, slot.get());
            }
        }
    }

    /// The seats stand in the order of their hashes whatever their number, so that seating all of
    /// them anew goes through memory in order.
    fn start(&self, hash: u32) -> usize {
        ((u64::from(hash) * self.seats.len() as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Seat, Table};

    fn slots(table: &Table, hash: u32) -> Vec<u32> {
        let mut slots: Vec<u32> = table.slots(hash).collect();
        slots.sort();
        slots
    }

    #[test]
    fn a_seat_takes_eight_bytes() {
        assert_eq!(size_of::<Option<Seat>>(), 8);
    }

    #[test]
    fn an_empty_table_has_no_slots() {
        assert!(slots(&Table::default(), u32::MAX).is_empty());
    }

    #[test]
    fn slots_of_one_hash_are_found_past_others_and_past_the_end() {
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
    fn a_larger_table_has_all_slots_and_a_cleaned_one_those_that_are_kept() {
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

    /// Of sixteen seats the last and the first five are taken: three slots ask for the last one.
    #[test]
    fn slots_that_are_kept_are_found_past_the_end_whichever_go() {
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
                let wanted = (0..).zip(hashes).filter(|(_, one)| *one == hash);
                let wanted = wanted.map(|(slot, _)| slot).filter(|slot| is_kept(*slot));
                let wanted: Vec<u32> = wanted.collect();
                assert_eq!(slots(&table, hash), wanted, "{kept:b}");
            }
        }
    }
}
