use std::cmp::Reverse;
use std::collections::BTreeMap;

use tokio::time::Instant;

use super::line::{Line, Place};
use super::{Ageing, Fairness, Priority};

/// The keys that wait for a worker, by priority.
#[derive(Debug)]
pub(super) struct Ready {
    /// The highest priority first; each has a key that is really there.
    levels: BTreeMap<Reverse<Priority>, Level>,
    ageing: Ageing,
    fairness: Fairness,
    /// How many keys in a row were taken although an older one waited at a lower level.
    passed_over: u32,
    len: usize,
}

#[derive(Debug)]
struct Level {
    line: Line,
    /// How many places have not been left.
    live: usize,
}

/// Places that were left and are not worth cleaning away.
const TOLERATED: usize = 64;

impl Ready {
    pub(super) fn new(ageing: Ageing, fairness: Fairness) -> Self {
        Self {
            levels: BTreeMap::new(),
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
        let levels = self.levels.iter();
        levels.map(|(level, keys)| (level.0, keys.live)).collect()
    }

    pub(super) fn push(&mut self, priority: Priority, namespace: Option<&str>, place: Place) {
        let level = self.levels.entry(Reverse(priority));
        let level = level.or_insert_with(|| Level {
            line: Line::new(self.fairness),
            live: 0,
        });
        level.line.push(namespace, place);
        level.live += 1;
        self.len += 1;
    }

    /// A key of this priority has left its place. `is_live` tells the others.
    pub(super) fn leave(&mut self, priority: Priority, is_live: impl Fn(&Place) -> bool) {
        let Some(level) = self.levels.get_mut(&Reverse(priority)) else {
            return;
        };
        self.len -= 1;
        level.live -= 1;
        if level.live == 0 {
            self.levels.remove(&Reverse(priority));
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
        for level in self.levels.values_mut() {
            while level.line.front().is_some_and(|place| !is_live(place)) {
                level.line.discard();
            }
        }
        let (&highest, _) = self.levels.first_key_value()?;
        let chosen = self.aged(now).unwrap_or(highest);
        let level = self.levels.get_mut(&chosen)?;
        let place = level.line.take()?;
        level.live -= 1;
        self.len -= 1;
        if level.live == 0 {
            self.levels.remove(&chosen);
        }
        Some((chosen.0, place))
    }

    /// The lower level whose oldest key is due because too many have overtaken it.
    fn aged(&mut self, now: Instant) -> Option<Reverse<Priority>> {
        let lower = self.levels.iter().skip(1);
        let oldest = lower
            .filter_map(|(level, keys)| Some((level, keys.line.front()?)))
            .filter(|(_, place)| now.saturating_duration_since(place.since) >= self.ageing.after)
            .min_by_key(|(_, place)| place.ticket);
        let Some((level, _)) = oldest else {
            self.passed_over = 0;
            return None;
        };
        self.passed_over += 1;
        if self.passed_over < self.ageing.every {
            return None;
        }
        self.passed_over = 0;
        Some(*level)
    }
}
