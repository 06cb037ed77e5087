use std::collections::{HashMap, VecDeque};

use tokio::time::Instant;

use super::Fairness;

/// Where a key stands in a line.
///
/// A key that moves to another line leaves its place behind; whoever comes to it sees by the
/// ticket that the key is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) slot: u32,
    pub(super) ticket: u64,
    pub(super) since: Instant,
}

/// The keys of one priority that wait for a worker.
#[derive(Debug)]
pub(super) enum Line {
    Arrival(VecDeque<Place>),
    Namespaces(Box<Turns>),
}

/// Places for which an empty line keeps its room.
const KEPT: usize = 64;

/// One line a namespace, each with something in it, in the order of their turns.
#[derive(Debug, Default)]
pub(super) struct Turns {
    lines: HashMap<Box<str>, VecDeque<Place>>,
    turns: VecDeque<Box<str>>,
    len: usize,
}

impl Line {
    pub(super) fn new(fairness: Fairness) -> Self {
        match fairness {
            Fairness::Arrival => Self::Arrival(VecDeque::new()),
            Fairness::Namespaces => Self::Namespaces(Box::default()),
        }
    }

    /// Places, those included that their keys have left.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Arrival(line) => line.len(),
            Self::Namespaces(turns) => turns.len,
        }
    }

    pub(super) fn push(&mut self, namespace: Option<&str>, place: Place) {
        match self {
            Self::Arrival(line) => line.push_back(place),
            Self::Namespaces(turns) => turns.push(namespace.unwrap_or_default(), place),
        }
    }

    /// Whose turn it is.
    pub(super) fn front(&self) -> Option<&Place> {
        match self {
            Self::Arrival(line) => line.front(),
            Self::Namespaces(turns) => turns.lines.get(turns.turns.front()?)?.front(),
        }
    }

    /// Takes the first key, and lets the next namespace have its turn.
    pub(super) fn take(&mut self) -> Option<Place> {
        match self {
            Self::Arrival(line) => line.pop_front(),
            Self::Namespaces(turns) => {
                let place = turns.pop()?;
                if turns.turns.len() > 1 {
                    turns.turns.rotate_left(1);
                }
                turns.drop_empty();
                Some(place)
            }
        }
    }

    /// Takes a place away that its key has left: nobody has had a turn.
    pub(super) fn discard(&mut self) {
        match self {
            Self::Arrival(line) => drop(line.pop_front()),
            Self::Namespaces(turns) => {
                turns.pop();
                turns.drop_empty();
            }
        }
    }

    /// Takes all places away, and the room of many.
    pub(super) fn clear(&mut self) {
        match self {
            Self::Arrival(line) => {
                line.clear();
                line.shrink_to(KEPT);
            }
            Self::Namespaces(turns) => **turns = Turns::default(),
        }
    }

    /// Keeps those places only whose keys are still there.
    pub(super) fn retain(&mut self, is_live: impl Fn(&Place) -> bool) {
        match self {
            Self::Arrival(line) => line.retain(is_live),
            Self::Namespaces(turns) => {
                turns.lines.retain(|_, line| {
                    line.retain(&is_live);
                    !line.is_empty()
                });
                let lines = &turns.lines;
                turns
                    .turns
                    .retain(|namespace| lines.contains_key(namespace));
                turns.len = lines.values().map(VecDeque::len).sum();
            }
        }
    }
}

impl Turns {
    fn push(&mut self, namespace: &str, place: Place) {
        self.len += 1;
        if let Some(line) = self.lines.get_mut(namespace) {
            line.push_back(place);
            return;
        }
        self.lines.insert(namespace.into(), VecDeque::from([place]));
        self.turns.push_back(namespace.into());
    }

    fn pop(&mut self) -> Option<Place> {
        let namespace = self.turns.front()?;
        let place = self.lines.get_mut(namespace)?.pop_front()?;
        self.len -= 1;
        Some(place)
    }

    /// At most the line that was just popped from is empty, at either end of the turns.
    fn drop_empty(&mut self) {
        let is_empty = |lines: &HashMap<Box<str>, VecDeque<Place>>, namespace: &str| {
            lines.get(namespace).is_none_or(VecDeque::is_empty)
        };
        if let Some(last) = self.turns.pop_back_if(|last| is_empty(&self.lines, last)) {
            self.lines.remove(&last);
        }
        if let Some(first) = self
            .turns
            .pop_front_if(|first| is_empty(&self.lines, first))
        {
            self.lines.remove(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::{Line, Place};
    use crate::queue::Fairness;

    fn place(slot: u32) -> Place {
        Place {
            slot,
            ticket: u64::from(slot),
            since: Instant::now(),
        }
    }

    fn taken(mut line: Line) -> Vec<u32> {
        std::iter::from_fn(|| line.take())
            .map(|place| place.slot)
            .collect()
    }

    fn filled(fairness: Fairness) -> Line {
        let mut line = Line::new(fairness);
        for slot in 0..4 {
            line.push(Some("big"), place(slot));
        }
        line.push(Some("small"), place(4));
        line.push(None, place(5));
        line.push(Some("small"), place(6));
        line
    }

    #[test]
    fn by_arrival_a_large_namespace_comes_whole() {
        assert_eq!(taken(filled(Fairness::Arrival)), [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn by_namespaces_each_has_its_turn() {
        assert_eq!(taken(filled(Fairness::Namespaces)), [0, 4, 5, 1, 6, 2, 3]);
    }

    #[test]
    fn a_place_that_was_left_costs_its_namespace_no_turn() {
        let mut line = filled(Fairness::Namespaces);
        line.discard();
        assert_eq!(line.front().map(|place| place.slot), Some(1));
        line.retain(|place| place.slot != 5);
        assert_eq!(line.len(), 5);
        assert_eq!(taken(line), [1, 4, 2, 6, 3]);
    }
}
