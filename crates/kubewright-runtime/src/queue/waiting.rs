use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use kubewright_core::ObjectKey;
use tokio::time::Instant;

/// Where each key stands. Plain data: whoever changes it wakes the workers.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// In the order in which they became ready.
    ready: VecDeque<ObjectKey>,
    /// To be handed out: those in `ready`, and those under way that are wanted again.
    wanted: HashSet<ObjectKey>,
    under_way: HashSet<ObjectKey>,
    /// By time, then by the order of their adding.
    delayed: BTreeMap<(Instant, u64), ObjectKey>,
    delays: HashMap<ObjectKey, (Instant, u64)>,
    added: u64,
    failures: HashMap<ObjectKey, u32>,
    is_shut_down: bool,
}

impl Waiting {
    /// Wants the key at once. True when a worker can take it.
    pub(super) fn add(&mut self, key: ObjectKey, now: Instant) -> bool {
        if self.is_shut_down {
            return false;
        }
        self.end_delays(now);
        self.want(key)
    }

    fn want(&mut self, key: ObjectKey) -> bool {
        if let Some(delay) = self.delays.remove(&key) {
            self.delayed.remove(&delay);
        }
        if !self.wanted.insert(key.clone()) || self.under_way.contains(&key) {
            return false;
        }
        self.ready.push_back(key);
        true
    }

    /// Wants the key at `time`. True when no other delay ends before that.
    pub(super) fn add_at(&mut self, key: ObjectKey, time: Instant) -> bool {
        if self.is_shut_down || self.wanted.contains(&key) {
            return false;
        }
        if let Some(present) = self.delays.get(&key).copied() {
            if present.0 <= time {
                return false;
            }
            self.delayed.remove(&present);
        }
        self.added += 1;
        let delay = (time, self.added);
        self.delays.insert(key.clone(), delay);
        self.delayed.insert(delay, key);
        self.delayed.first_key_value().map(|(first, _)| *first) == Some(delay)
    }

    /// The next key, if one is ready at `now`.
    pub(super) fn take(&mut self, now: Instant) -> Option<ObjectKey> {
        self.end_delays(now);
        let key = self.ready.pop_front()?;
        self.wanted.remove(&key);
        self.under_way.insert(key.clone());
        Some(key)
    }

    /// When the next delay ends.
    pub(super) fn next_delay(&self) -> Option<Instant> {
        self.delayed.first_key_value().map(|((time, _), _)| *time)
    }

    /// Makes those keys ready whose delays are over. Whatever makes a key ready does this first:
    /// the order of keys is the order of their times.
    fn end_delays(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let key = entry.get().clone();
            self.want(key);
        }
    }

    /// Ends the work on a key. True when it is ready again.
    pub(super) fn done(&mut self, key: &ObjectKey, now: Instant) -> bool {
        self.end_delays(now);
        let again = self.under_way.remove(key) && self.wanted.contains(key);
        if again {
            self.ready.push_back(key.clone());
        }
        again
    }

    /// Counts one more failure and gives the number before it.
    pub(super) fn fail(&mut self, key: &ObjectKey) -> u32 {
        let failures = self.failures.entry(key.clone()).or_default();
        let before = *failures;
        *failures = before.saturating_add(1);
        before
    }

    pub(super) fn forget(&mut self, key: &ObjectKey) {
        self.failures.remove(key);
    }

    pub(super) fn failures(&self, key: &ObjectKey) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }

    /// How many keys are ready.
    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    pub(super) fn shut_down(&mut self) {
        *self = Self {
            is_shut_down: true,
            under_way: std::mem::take(&mut self.under_way),
            failures: std::mem::take(&mut self.failures),
            ..Self::default()
        };
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.is_shut_down
    }
}
