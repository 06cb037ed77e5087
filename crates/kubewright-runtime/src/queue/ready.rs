use std::cmp::Reverse;
use std::collections::BTreeMap;

use tokio::time::Instant;

use super::line::{Line, Place};
use super::{Ageing, Fairness, Priority};

/// The keys that wait for a worker, by priority. Those who add and those who take both write here,
/// so it has cache lines of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Ready {
    /// The highest priority first.
    levels: Vec<Level>,
    ageing: Ageing,
    fairness: Fairness,
    /// How many keys in a row were taken although an older one waited at a lower level.
    passed_over: u32,
    len: usize,
}

#[derive(Debug)]
struct Level {
    priority: Priority,
    line: Line,
    /// How many places have not been left.
    live: usize,
}

/// Places that were left and are not worth cleaning away.
const TOLERATED: usize = 64;

/// So many levels stay although their keys are gone. Most queues have two, which are empty most of
/// the time, and would be made anew for each key.
const KEPT: usize = 4;

impl Ready {
    pub(super) fn new(ageing: Ageing, fairness: Fairness) -> Self {
        Self {
            levels: Vec::new(),
            ageing,
            fairness,
            passed_over: 0,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many keys there are of each priority.
    pub(super) fn depth(&self) -> BTreeMap<Priority, usize> {
        let levels = self.levels.iter().filter(|level| level.live > 0);
        levels.map(|level| (level.priority, level.live)).collect()
    }

    pub(super) fn push(&mut self, priority: Priority, namespace: Option<&str>, place: Place) {
        let index = self.find(priority).unwrap_or_else(|index| {
            let level = Level {
                priority,
                line: Line::new(self.fairness),
                live: 0,
            };
            self.levels.insert(index, level);
            index
        });
        let level = &mut self.levels[index];
        level.line.push(namespace, place);
        level.live += 1;
        self.len += 1;
    }

    /// A key of this priority has left its place. `is_live` tells the others.
    pub(super) fn leave(&mut self, priority: Priority, is_live: impl Fn(&Place) -> bool) {
        let Ok(index) = self.find(priority) else {
            return;
        };
        let level = &mut self.levels[index];
        self.len -= 1;
        level.live -= 1;
        if level.live == 0 {
            self.clear(index);
        } else if level.line.len() > 2 * level.live + TOLERATED {
            level.line.retain(is_live);
        }
    }

    /// The next key.
    pub(super) fn take(
        &mut self,
        now: Instant,
        is_live: impl Fn(&Place) -> bool,
    ) -> Option<(Priority, Place)> {
        for level in &mut self.levels {
            while level.line.front().is_some_and(|place| !is_live(place)) {
                level.line.discard();
            }
        }
        let highest = self.levels.iter().position(|level| level.live > 0)?;
        let chosen = self.aged(highest, now).unwrap_or(highest);
        let level = &mut self.levels[chosen];
        let (priority, place) = (level.priority, level.line.take()?);
        level.live -= 1;
        self.len -= 1;
        if level.live == 0 {
            self.clear(chosen);
        }
        Some((priority, place))
    }

    /// The level below the highest whose oldest key is due because too many have overtaken it.
    fn aged(&mut self, highest: usize, now: Instant) -> Option<usize> {
        let lower = self.levels.iter().enumerate().skip(highest + 1);
        let oldest = lower
            .filter_map(|(index, level)| Some((index, level.line.front()?)))
            .filter(|(_, place)| now.saturating_duration_since(place.since) >= self.ageing.after)
            .min_by_key(|(_, place)| place.ticket);
        let Some((index, _)) = oldest else {
            self.passed_over = 0;
            return None;
        };
        self.passed_over += 1;
        if self.passed_over < self.ageing.every {
            return None;
        }
        self.passed_over = 0;
        Some(index)
    }

    /// Where the level of this priority is, or would be.
    fn find(&self, priority: Priority) -> Result<usize, usize> {
        let key = |level: &Level| Reverse(level.priority);
        self.levels.binary_search_by_key(&Reverse(priority), key)
    }

    /// The last key of a level is gone.
    fn clear(&mut self, index: usize) {
        if self.levels.len() > KEPT {
            self.levels.remove(index);
        } else {
            self.levels[index].line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::time::Instant;

    use super::Ready;
    use crate::queue::line::Place;
    use crate::queue::{Ageing, Fairness, Priority};

    fn push(ready: &mut Ready, priority: i32, slot: u32) {
        let place = Place {
            slot,
            ticket: u64::from(slot),
            since: Instant::now(),
        };
        ready.push(Priority(priority), Some("shop"), place);
    }

    fn taken(ready: &mut Ready) -> Vec<(i32, u32)> {
        std::iter::from_fn(|| ready.take(Instant::now(), |_| true))
            .map(|(priority, place)| (priority.0, place.slot))
            .collect()
    }

    #[test]
    fn levels_whose_keys_are_gone_do_not_count_and_take_keys_again() {
        for fairness in [Fairness::Arrival, Fairness::Namespaces] {
            let mut ready = Ready::new(Ageing::default(), fairness);
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
    fn a_place_that_was_left_is_gone_with_the_last_key_of_its_level() {
        let mut ready = Ready::new(Ageing::default(), Fairness::Arrival);
        push(&mut ready, 0, 1);
        push(&mut ready, 5, 1);
        ready.leave(Priority(0), |_| false);
        assert_eq!(ready.depth(), BTreeMap::from([(Priority(5), 1)]));
        push(&mut ready, 0, 2);
        assert_eq!(taken(&mut ready), [(5, 1), (0, 2)]);
    }
}
