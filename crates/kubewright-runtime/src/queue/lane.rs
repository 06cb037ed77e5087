//! The waiting keys of one priority.

use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use super::Fairness;

/// The position of a key in a lane.
///
/// A key that moves to another lane leaves a stale position behind, which its ticket reveals: it is
/// not that of the key any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) slot: u32,
    pub(super) ticket: u64,
    pub(super) since: Instant,
}

/// The keys of one priority that wait for a worker.
#[derive(Debug)]
pub(super) enum Lane {
    Arrival(VecDeque<Position>),
    Namespaces(Box<RoundRobin>),
}

/// The capacity that an empty lane retains.
const MIN_CAPACITY: usize = 64;

/// A non-empty queue for each namespace, and the namespaces in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct RoundRobin {
    queues: HashMap<Box<str>, VecDeque<Position>>,
    turns: VecDeque<Box<str>>,
    len: usize,
}

impl Lane {
    pub(super) fn new(fairness: Fairness) -> Self {
        match fairness {
            Fairness::Arrival => Self::Arrival(VecDeque::new()),
            Fairness::Namespaces => Self::Namespaces(Box::default()),
        }
    }

    /// The number of positions, stale ones included.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Arrival(positions) => positions.len(),
            Self::Namespaces(round_robin) => round_robin.len,
        }
    }

    pub(super) fn push(&mut self, namespace: Option<&str>, position: Position) {
        match self {
            Self::Arrival(positions) => positions.push_back(position),
            Self::Namespaces(round_robin) => {
                round_robin.push(namespace.unwrap_or_default(), position)
            }
        }
    }

    /// The next position.
    pub(super) fn front(&self) -> Option<&Position> {
        match self {
            Self::Arrival(positions) => positions.front(),
            Self::Namespaces(round_robin) => {
                round_robin.queues.get(round_robin.turns.front()?)?.front()
            }
        }
    }

    /// Takes the next position; then it is the turn of the next namespace.
    pub(super) fn take(&mut self) -> Option<Position> {
        match self {
            Self::Arrival(positions) => positions.pop_front(),
            Self::Namespaces(round_robin) => {
                let position = round_robin.pop()?;
                if round_robin.turns.len() > 1 {
                    round_robin.turns.rotate_left(1);
                }
                round_robin.drop_empty();
                Some(position)
            }
        }
    }

    /// Removes a stale position. The namespace keeps its turn.
    pub(super) fn discard(&mut self) {
        match self {
            Self::Arrival(positions) => drop(positions.pop_front()),
            Self::Namespaces(round_robin) => {
                round_robin.pop();
                round_robin.drop_empty();
            }
        }
    }

    /// Removes all positions and most of the capacity.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Arrival(positions) => {
                positions.clear();
                positions.shrink_to(MIN_CAPACITY);
            }
            Self::Namespaces(round_robin) => **round_robin = RoundRobin::default(),
        }
    }

    /// Removes the positions that are stale.
    pub(super) fn retain(&mut self, is_live: impl Fn(&Position) -> bool) {
        match self {
            Self::Arrival(positions) => positions.retain(is_live),
            Self::Namespaces(round_robin) => {
                round_robin.queues.retain(|_, positions| {
                    positions.retain(&is_live);
                    !positions.is_empty()
                });
                let queues = &round_robin.queues;
                round_robin
                    .turns
                    .retain(|namespace| queues.contains_key(namespace));
                round_robin.len = queues.values().map(VecDeque::len).sum();
            }
        }
    }
}

impl RoundRobin {
    fn push(&mut self, namespace: &str, position: Position) {
        self.len += 1;
        if let Some(positions) = self.queues.get_mut(namespace) {
            positions.push_back(position);
            return;
        }
        self.queues
            .insert(namespace.into(), VecDeque::from([position]));
        self.turns.push_back(namespace.into());
    }

    fn pop(&mut self) -> Option<Position> {
        let namespace = self.turns.front()?;
        let position = self.queues.get_mut(namespace)?.pop_front()?;
        self.len -= 1;
        Some(position)
    }

    /// Removes the empty queue: at most the one that was popped from, at either end of the turns.
    fn drop_empty(&mut self) {
        let is_empty = |queues: &HashMap<Box<str>, VecDeque<Position>>, namespace: &str| {
            queues.get(namespace).is_none_or(VecDeque::is_empty)
        };
        if let Some(last) = self.turns.pop_back_if(|last| is_empty(&self.queues, last)) {
            self.queues.remove(&last);
        }
        if let Some(first) = self
            .turns
            .pop_front_if(|first| is_empty(&self.queues, first))
        {
            self.queues.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::{Lane, Position};
    use crate::queue::Fairness;

    fn position(slot: u32) -> Position {
        Position {
            slot,
            ticket: u64::from(slot),
            since: Instant::now(),
        }
    }

    fn taken(mut lane: Lane) -> Vec<u32> {
        std::iter::from_fn(|| lane.take())
            .map(|position| position.slot)
            .collect()
    }

    fn filled(fairness: Fairness) -> Lane {
        let mut lane = Lane::new(fairness);
        for slot in 0..4 {
            lane.push(Some("big"), position(slot));
        }
        lane.push(Some("small"), position(4));
        lane.push(None, position(5));
        lane.push(Some("small"), position(6));
        lane
    }

    #[test]
    fn large_namespace_is_not_interrupted_in_order_of_arrival() {
        assert_eq!(taken(filled(Fairness::Arrival)), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn namespaces_take_turns() {
        assert_eq!(taken(filled(Fairness::Namespaces)), [0, 4, 5, 1, 6, 2, 3]);
    }

    #[test]
    fn stale_position_does_not_take_the_turn_of_its_namespace() {
        let mut lane = filled(Fairness::Namespaces);
        lane.discard();
        assert_eq!(lane.front().map(|position| position.slot), Some(1));
        lane.retain(|position| position.slot != 5);
        assert_eq!(lane.len(), 5);
        assert_eq!(taken(lane), [1, 4, 2, 6, 3]);
    }
}
