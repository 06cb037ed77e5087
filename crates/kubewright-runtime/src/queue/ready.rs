//! The keys that wait for a worker, by priority.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tokio::time::Instant;

use super::lane::{Lane, Position};
use super::{Aging, Fairness, Priority};

/// The keys that wait for a worker, by priority. It has cache lines of its own, because both adding
/// and taking a key write to it.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Ready {
    /// In the order of priorities, the highest first.
    levels: Vec<Level>,
    aging: Aging,
    fairness: Fairness,
    /// The number of consecutive keys that were taken while an older one waited at a lower level.
    passed_over: u32,
    len: usize,
}

#[derive(Debug)]
struct Level {
    priority: Priority,
    lane: Lane,
    /// The number of positions that are not stale.
    live: usize,
}

/// The number of stale positions that are not worth a cleanup.
const MAX_STALE: usize = 64;

/// The number of empty levels that are retained. Most queues have two levels, which are empty most
/// of the time and would be allocated again for each key.
const MIN_LEVELS: usize = 4;

impl Ready {
    pub(super) fn new(aging: Aging, fairness: Fairness) -> Self {
        Self {
            levels: Vec::new(),
            aging,
            fairness,
            passed_over: 0,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of keys of each priority.
    pub(super) fn depth(&self) -> BTreeMap<Priority, usize> {
        let levels = self.levels.iter().filter(|level| level.live > 0);
        levels.map(|level| (level.priority, level.live)).collect()
    }

    pub(super) fn push(&mut self, priority: Priority, namespace: Option<&str>, position: Position) {
        let index = self.find(priority).unwrap_or_else(|index| {
            let level = Level {
                priority,
                lane: Lane::new(self.fairness),
                live: 0,
            };
            self.levels.insert(index, level);
            index
        });
        let level = &mut self.levels[index];
        level.lane.push(namespace, position);
        level.live += 1;
        self.len += 1;
    }

    /// A position of this priority has become stale. `is_live` is false for stale positions.
    pub(super) fn mark_stale(&mut self, priority: Priority, is_live: impl Fn(&Position) -> bool) {
        let Ok(index) = self.find(priority) else {
            return;
        };
        let level = &mut self.levels[index];
        self.len -= 1;
        level.live -= 1;
        if level.live == 0 {
            self.clear(index);
        } else if level.lane.len() > 2 * level.live + MAX_STALE {
            level.lane.retain(is_live);
        }
    }

    /// Takes the next key.
    pub(super) fn take(
        &mut self,
        now: Instant,
        is_live: impl Fn(&Position) -> bool,
    ) -> Option<(Priority, Position)> {
        for level in &mut self.levels {
            while level
                .lane
                .front()
                .is_some_and(|position| !is_live(position))
            {
                level.lane.discard();
            }
        }
        let highest = self.levels.iter().position(|level| level.live > 0)?;
        let chosen = self.aged_level(highest, now).unwrap_or(highest);
        let level = &mut self.levels[chosen];
        let (priority, position) = (level.priority, level.lane.take()?);
        level.live -= 1;
        self.len -= 1;
        if level.live == 0 {
            self.clear(chosen);
        }
        Some((priority, position))
    }

    /// The level of the oldest key below the highest level, if it is due because enough keys have
    /// overtaken it.
    fn aged_level(&mut self, highest: usize, now: Instant) -> Option<usize> {
        let lower = self.levels.iter().enumerate().skip(highest + 1);
        let oldest = lower
            .filter_map(|(index, level)| Some((index, level.lane.front()?)))
            .filter(|(_, position)| {
                now.saturating_duration_since(position.since) >= self.aging.after
            })
            .min_by_key(|(_, position)| position.ticket);
        let Some((index, _)) = oldest else {
            self.passed_over = 0;
            return None;
        };
        self.passed_over += 1;
        if self.passed_over < self.aging.every {
            return None;
        }
        self.passed_over = 0;
        Some(index)
    }

    /// The index of the level of this priority, or where it has to be inserted.
    fn find(&self, priority: Priority) -> Result<usize, usize> {
        let key = |level: &Level| Reverse(level.priority);
        self.levels.binary_search_by_key(&Reverse(priority), key)
    }

    /// Removes or empties a level without keys.
    fn clear(&mut self, index: usize) {
        if self.levels.len() > MIN_LEVELS {
            self.levels.remove(index);
        } else {
            self.levels[index].lane.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::time::Instant;

    use super::Ready;
    use crate::queue::lane::Position;
    use crate::queue::{Aging, Fairness, Priority};

    fn push(ready: &mut Ready, priority: i32, slot: u32) {
        let position = Position {
            slot,
            ticket: u64::from(slot),
            since: Instant::now(),
        };
        ready.push(Priority(priority), Some("shop"), position);
    }

    fn taken(ready: &mut Ready) -> Vec<(i32, u32)> {
        std::iter::from_fn(|| ready.take(Instant::now(), |_| true))
            .map(|(priority, position)| (priority.0, position.slot))
            .collect()
    }

    #[test]
    fn empty_levels_do_not_count_and_are_reused() {
        for fairness in [Fairness::Arrival, Fairness::Namespaces] {
            let mut ready = Ready::new(Aging::default(), fairness);
            for round in 0..3 {
                for (slot, priority) in (round * 7..).zip([0, -100, 5, 0, 3, 9, -7]) {
                    push(&mut ready, priority, slot);
                }
                assert_eq!(ready.len(), 7);
                let order = [(9, 5), (5, 2), (3, 4), (0, 0), (0, 3), (-7, 6), (-100, 1)];
                let order = order.map(|(priority, slot)| (priority, round * 7 + slot));
                assert_eq!(taken(&mut ready), order);
                assert_eq!(ready.depth(), BTreeMap::new());
            }
        }
    }

    #[test]
    fn stale_position_is_removed_with_the_last_key_of_its_level() {
        let mut ready = Ready::new(Aging::default(), Fairness::Arrival);
        push(&mut ready, 0, 1);
        push(&mut ready, 5, 1);
        ready.mark_stale(Priority(0), |_| false);
        assert_eq!(ready.depth(), BTreeMap::from([(Priority(5), 1)]));
        push(&mut ready, 0, 2);
        assert_eq!(taken(&mut ready), [(5, 1), (0, 2)]);
    }
}
