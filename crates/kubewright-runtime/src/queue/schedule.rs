//! Decides which key is handed out next.

use std::collections::BTreeMap;
use std::time::Duration;

use hashbrown::DefaultHashBuilder;
use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::entries::{Entries, Hashed, KeyState};
use super::finished::FinishedKey;
use super::index::Index;
use super::lane::Position;
use super::metrics::Metrics;
use super::ready::Ready;
use super::{Added, Finished, Priority, QueueOptions};
use crate::rate_limit::TokenBucket;

/// The state of a queue, without synchronization: the methods return which workers to wake.
#[derive(Debug)]
pub(super) struct Schedule {
    options: QueueOptions,
    entries: Entries,
    ready: Ready,
    /// The slots of delayed keys, by the end of the delay and then by ticket.
    delayed: BTreeMap<(Instant, u64), u32>,
    processing: Vec<Processing>,
    /// The number of keys that are processed and queued again.
    requeued: usize,
    tickets: u64,
    bucket: TokenBucket,
    phase: Phase,
    metrics: Metrics,
}

/// A key that is being processed.
#[derive(Clone, Copy, Debug)]
struct Processing {
    slot: u32,
    priority: Priority,
    since: Instant,
}

/// Up to this number, a search through the keys that are processed is faster than a hash.
const MAX_LINEAR_SEARCH: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Accepts no keys and hands out those that are ready.
    Draining,
    /// Accepts and hands out no keys.
    ShutDown,
}

/// The workers to wake after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    None,
    One,
    All,
}

/// The next step of a worker.
#[derive(Debug)]
pub(super) enum Next {
    Key(ObjectKey),
    /// No key is ready. The next delay ends at this time.
    Wait(Option<Instant>),
    /// No more keys will be handed out.
    End,
}

impl Schedule {
    pub(super) fn new(options: QueueOptions) -> Self {
        Self {
            entries: Entries::default(),
            ready: Ready::new(options.aging, options.fairness),
            delayed: BTreeMap::new(),
            processing: Vec::new(),
            requeued: 0,
            tickets: 0,
            bucket: TokenBucket::default(),
            phase: Phase::Open,
            metrics: Metrics::default(),
            options,
        }
    }

    /// Adds a key without a delay.
    pub(super) fn add(
        &mut self,
        key: Hashed<ObjectKey>,
        priority: Option<Priority>,
        now: Instant,
    ) -> (Added, Wake) {
        if self.phase != Phase::Open {
            return (Added::ShutDown, Wake::None);
        }
        self.end_delays(now);
        let slot = self.entries.slot(key);
        let priority = self.priority(slot, priority);
        match self.entries.state(slot) {
            KeyState::Idle => (Added::New, self.enqueue(slot, priority, now)),
            KeyState::Delayed {
                priority: former,
                at,
                ticket,
            } => {
                self.delayed.remove(&(at, ticket));
                self.metrics.replaced_delays += 1;
                let wake = self.enqueue(slot, former.max(priority), now);
                (Added::ReplacedDelay, wake)
            }
            KeyState::Ready { .. } | KeyState::Requeued { .. } => {
                self.raise(slot, priority, now);
                (Added::Merged, Wake::None)
            }
        }
    }

    /// Adds a key that becomes ready at `time`, which is later than `now`.
    pub(super) fn add_at(
        &mut self,
        key: Hashed<ObjectKey>,
        priority: Option<Priority>,
        time: Instant,
        now: Instant,
    ) -> (Added, Wake) {
        if self.phase != Phase::Open {
            return (Added::ShutDown, Wake::None);
        }
        self.end_delays(now);
        self.metrics.retries += 1;
        let slot = self.entries.slot(key);
        let priority = self.priority(slot, priority);
        let (added, priority) = match self.entries.state(slot) {
            KeyState::Idle => (Added::New, priority),
            KeyState::Ready { .. } | KeyState::Requeued { .. } => {
                self.raise(slot, priority, now);
                return (Added::Merged, Wake::None);
            }
            KeyState::Delayed {
                priority: former,
                at,
                ticket,
            } => {
                let priority = former.max(priority);
                if at <= time {
                    let delayed = KeyState::Delayed {
                        priority,
                        at,
                        ticket,
                    };
                    self.entries.get_mut(slot).state = delayed;
                    return (Added::Merged, Wake::None);
                }
                self.delayed.remove(&(at, ticket));
                (Added::Merged, priority)
            }
        };
        let ticket = self.ticket();
        self.entries.get_mut(slot).state = KeyState::Delayed {
            priority,
            at: time,
            ticket,
        };
        self.delayed.insert((time, ticket), slot);
        // Every waiter has a timer for the next delay, because any of them can be dropped.
        let is_next = self.next_delay() == Some((time, ticket));
        (added, if is_next { Wake::All } else { Wake::None })
    }

    /// Returns the next key or how long to wait for it.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if self.phase == Phase::ShutDown {
            return Next::End;
        }
        self.end_delays(now);
        let entries = &self.entries;
        if let Some((priority, position)) =
            self.ready.take(now, |position| entries.is_live(position))
        {
            return Next::Key(self.hand_out(priority, position, now));
        }
        if self.phase == Phase::Draining && self.requeued == 0 {
            return Next::End;
        }
        Next::Wait(self.next_delay().map(|(time, _)| time))
    }

    fn hand_out(&mut self, priority: Priority, position: Position, now: Instant) -> ObjectKey {
        let index = u32::try_from(self.processing.len()).expect("fewer workers than keys");
        self.processing.push(Processing {
            slot: position.slot,
            priority,
            since: now,
        });
        let entry = self.entries.get_mut(position.slot);
        if let KeyState::Ready { since, .. } = entry.state {
            let waited = now.saturating_duration_since(since);
            self.metrics.queue_duration.observe(waited);
        }
        entry.state = KeyState::Idle;
        entry.work = Some(Index::new(index));
        entry
            .key
            .clone()
            .expect("the slot of a ready key has the key")
    }

    /// Ends the run of a key. A key that is not being processed keeps its state.
    pub(super) fn done(
        &mut self,
        finished: FinishedKey<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
    ) -> Wake {
        let FinishedKey { key, finished } = finished;
        self.end_delays(now);
        let slot = match self.processing.len() {
            ..=MAX_LINEAR_SEARCH => {
                let slots = self.processing.iter().map(|processing| processing.slot);
                self.entries.find_among(slots, key)
            }
            _ => self.entries.find(&Hashed::new(key, hasher)),
        };
        let Some(slot) = slot else {
            return Wake::None;
        };
        let entry = self.entries.get_mut(slot);
        let Some(index) = entry.work.take() else {
            return Wake::None;
        };
        if finished == Finished::Forget {
            entry.failures = 0;
        }
        let processed = self.processing.swap_remove(index.get() as usize);
        let duration = now.saturating_duration_since(processed.since);
        self.metrics.work_duration.observe(duration);
        if let Some(moved) = self.processing.get(index.get() as usize) {
            self.entries.get_mut(moved.slot).work = Some(index);
        }
        let KeyState::Requeued { priority, since } = self.entries.state(slot) else {
            self.entries.remove_idle(slot);
            return Wake::None;
        };
        self.requeued -= 1;
        self.make_ready(slot, priority, since, now);
        match self.phase {
            // The other workers wait for this key before they end.
            Phase::Draining => Wake::All,
            _ => Wake::One,
        }
    }

    /// Counts a failure of the key and returns its backoff.
    pub(super) fn fail(&mut self, key: Hashed<ObjectKey>, now: Instant) -> Duration {
        let slot = self.entries.slot(key);
        let entry = self.entries.get_mut(slot);
        let before = entry.failures;
        entry.failures = before.saturating_add(1);
        let backoff = self.options.backoff.delay(before);
        match self.options.rate_limit {
            Some(limit) => backoff.max(self.bucket.reserve(limit, now)),
            None => backoff,
        }
    }

    pub(super) fn forget(&mut self, key: &Hashed<&ObjectKey>) {
        if let Some(slot) = self.entries.find(key) {
            self.entries.get_mut(slot).failures = 0;
            self.entries.remove_idle(slot);
        }
    }

    pub(super) fn failures(&self, key: &Hashed<&ObjectKey>) -> u32 {
        let slot = self.entries.find(key);
        slot.map_or(0, |slot| self.entries.get(slot).failures)
    }

    /// The number of keys that wait for a worker, without delayed ones.
    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Whether the queue accepts no keys and the last key is done.
    pub(super) fn is_over(&self) -> bool {
        self.phase != Phase::Open && self.processing.is_empty() && self.ready.len() == 0
    }

    /// Accepts no more keys, and discards the delayed ones.
    pub(super) fn drain(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Draining;
            for slot in std::mem::take(&mut self.delayed).into_values() {
                self.entries.get_mut(slot).state = KeyState::Idle;
                self.entries.remove_idle(slot);
            }
        }
    }

    /// Accepts and hands out no more keys.
    pub(super) fn shut_down(&mut self) {
        self.drain();
        self.phase = Phase::ShutDown;
        self.ready = Ready::new(self.options.aging, self.options.fairness);
        self.requeued = 0;
        self.entries.clear_states();
    }

    pub(super) fn metrics(&self, now: Instant) -> Metrics {
        let durations: Vec<Duration> = self
            .processing
            .iter()
            .map(|processing| now.saturating_duration_since(processing.since))
            .collect();
        Metrics {
            depth: self.ready.depth(),
            delayed: self.delayed.len(),
            processing: durations.len(),
            unfinished_work: durations.iter().sum(),
            longest_running: durations.into_iter().max().unwrap_or_default(),
            ..self.metrics.clone()
        }
    }

    fn next_delay(&self) -> Option<(Instant, u64)> {
        self.delayed.first_key_value().map(|(first, _)| *first)
    }

    /// Enqueues the keys whose delays are over. Everything that makes a key ready does this first, so
    /// that keys become ready in the order of their times.
    fn end_delays(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry() {
            let (time, _) = *entry.key();
            if time > now {
                break;
            }
            let slot = entry.remove();
            if let KeyState::Delayed { priority, .. } = self.entries.state(slot) {
                self.enqueue(slot, priority, time);
            }
        }
    }

    /// Enqueues a key that was idle or delayed. It is ready from `time` on.
    fn enqueue(&mut self, slot: u32, priority: Priority, time: Instant) -> Wake {
        self.metrics.adds += 1;
        let entry = self.entries.get_mut(slot);
        if entry.work.is_some() {
            entry.state = KeyState::Requeued {
                priority,
                since: time,
            };
            self.requeued += 1;
            return Wake::None;
        }
        self.make_ready(slot, priority, time, time);
        Wake::One
    }

    /// Puts the key at the end of its lane, at `time`.
    fn make_ready(&mut self, slot: u32, priority: Priority, since: Instant, time: Instant) {
        let ticket = self.ticket();
        let entry = self.entries.get_mut(slot);
        entry.state = KeyState::Ready {
            priority,
            since,
            ticket,
        };
        let position = Position {
            slot,
            ticket,
            since: time,
        };
        let namespace = entry.key.as_ref().and_then(ObjectKey::namespace);
        self.ready.push(priority, namespace, position);
    }

    /// Raises the priority of a key, which moves it to the end of the other lane.
    fn raise(&mut self, slot: u32, priority: Priority, now: Instant) {
        match self.entries.state(slot) {
            KeyState::Ready {
                priority: former,
                since,
                ..
            } if priority > former => {
                self.make_ready(slot, priority, since, now);
                let entries = &self.entries;
                self.ready
                    .mark_stale(former, |position| entries.is_live(position));
            }
            KeyState::Requeued {
                priority: former,
                since,
            } if priority > former => {
                self.entries.get_mut(slot).state = KeyState::Requeued { priority, since };
            }
            _ => {}
        }
    }

    /// The requested priority, or else that of the current run.
    fn priority(&self, slot: u32, requested: Option<Priority>) -> Priority {
        requested.unwrap_or_else(|| {
            let index = self.entries.get(slot).work;
            let current = index.and_then(|index| self.processing.get(index.get() as usize));
            current.map_or(Priority::NORMAL, |processing| processing.priority)
        })
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }
}
