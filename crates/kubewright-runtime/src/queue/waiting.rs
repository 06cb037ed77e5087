use std::collections::BTreeMap;
use std::time::Duration;

use hashbrown::DefaultHashBuilder;
use kubewright_core::ObjectKey;
use tokio::time::Instant;

use super::entries::{Entries, Hashed, Wanted};
use super::finished::Done;
use super::index::Index;
use super::line::Place;
use super::metrics::Metrics;
use super::ready::Ready;
use super::{Added, Finished, Priority, QueueOptions};
use crate::rate_limit::TokenBucket;

/// Where each key stands. Plain data: whoever changes it wakes the workers.
#[derive(Debug)]
pub(super) struct Waiting {
    options: QueueOptions,
    entries: Entries,
    ready: Ready,
    /// By time, then by the order of their adding.
    delayed: BTreeMap<(Instant, u64), u32>,
    under_way: Vec<Work>,
    /// How many keys under way are wanted again.
    again: usize,
    tickets: u64,
    bucket: TokenBucket,
    phase: Phase,
    counted: Metrics,
}

/// A key with a worker.
#[derive(Clone, Copy, Debug)]
struct Work {
    slot: u32,
    priority: Priority,
    since: Instant,
}

/// So many keys under way are looked through faster than one is hashed.
const FEW: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Takes nothing in and hands out what is there.
    Draining,
    ShutDown,
}

/// Who has to look again after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    Nobody,
    One,
    All,
}

/// What a worker is told.
#[derive(Debug)]
pub(super) enum Next {
    Key(ObjectKey),
    /// Nothing is ready; the next delay ends then.
    Wait(Option<Instant>),
    /// Nothing will come any more.
    Over,
}

impl Waiting {
    pub(super) fn new(options: QueueOptions) -> Self {
        Self {
            entries: Entries::default(),
            ready: Ready::new(options.ageing, options.fairness),
            delayed: BTreeMap::new(),
            under_way: Vec::new(),
            again: 0,
            tickets: 0,
            bucket: TokenBucket::default(),
            phase: Phase::Open,
            counted: Metrics::default(),
            options,
        }
    }

    /// Wants the key at once.
    pub(super) fn add(
        &mut self,
        key: Hashed<ObjectKey>,
        priority: Option<Priority>,
        now: Instant,
    ) -> (Added, Wake) {
        if self.phase != Phase::Open {
            return (Added::Refused, Wake::Nobody);
        }
        self.end_delays(now);
        let slot = self.entries.slot(key);
        let priority = self.priority(slot, priority);
        match self.entries.wanted(slot) {
            Wanted::No => (Added::New, self.become_due(slot, priority, now)),
            Wanted::Delayed {
                priority: former,
                at,
                ticket,
            } => {
                self.delayed.remove(&(at, ticket));
                self.counted.replaced_delays += 1;
                let wake = self.become_due(slot, former.max(priority), now);
                (Added::InPlaceOfDelay, wake)
            }
            Wanted::Ready { .. } | Wanted::Again { .. } => {
                self.raise(slot, priority, now);
                (Added::Merged, Wake::Nobody)
            }
        }
    }

    /// Wants the key at `time`, which is later than `now`.
    pub(super) fn add_at(
        &mut self,
        key: Hashed<ObjectKey>,
        priority: Option<Priority>,
        time: Instant,
        now: Instant,
    ) -> (Added, Wake) {
        if self.phase != Phase::Open {
            return (Added::Refused, Wake::Nobody);
        }
        self.end_delays(now);
        self.counted.retries += 1;
        let slot = self.entries.slot(key);
        let priority = self.priority(slot, priority);
        let (added, priority) = match self.entries.wanted(slot) {
            Wanted::No => (Added::New, priority),
            Wanted::Ready { .. } | Wanted::Again { .. } => {
                self.raise(slot, priority, now);
                return (Added::Merged, Wake::Nobody);
            }
            Wanted::Delayed {
                priority: former,
                at,
                ticket,
            } => {
                let priority = former.max(priority);
                if at <= time {
                    let delayed = Wanted::Delayed {
                        priority,
                        at,
                        ticket,
                    };
                    self.entries.at(slot).wanted = delayed;
                    return (Added::Merged, Wake::Nobody);
                }
                self.delayed.remove(&(at, ticket));
                (Added::Merged, priority)
            }
        };
        let ticket = self.ticket();
        self.entries.at(slot).wanted = Wanted::Delayed {
            priority,
            at: time,
            ticket,
        };
        self.delayed.insert((time, ticket), slot);
        match self.next_delay() == Some((time, ticket)) {
            // Every waiter keeps the timer of the next delay: any of them may be dropped.
            true => (added, Wake::All),
            false => (added, Wake::Nobody),
        }
    }

    /// What a worker gets at `now`; a key is its own until it is done.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        if self.phase == Phase::ShutDown {
            return Next::Over;
        }
        self.end_delays(now);
        let entries = &self.entries;
        if let Some((priority, place)) = self.ready.take(now, |place| entries.is_live(place)) {
            return Next::Key(self.hand_out(priority, place, now));
        }
        match self.phase == Phase::Draining && self.again == 0 {
            true => Next::Over,
            false => Next::Wait(self.next_delay().map(|(time, _)| time)),
        }
    }

    fn hand_out(&mut self, priority: Priority, place: Place, now: Instant) -> ObjectKey {
        let index = u32::try_from(self.under_way.len()).expect("fewer workers than keys");
        self.under_way.push(Work {
            slot: place.slot,
            priority,
            since: now,
        });
        let entry = self.entries.at(place.slot);
        if let Wanted::Ready { since, .. } = entry.wanted {
            let waited = now.saturating_duration_since(since);
            self.counted.queue_duration.observe(waited);
        }
        entry.wanted = Wanted::No;
        entry.work = Some(Index::new(index));
        entry.key.clone().expect("a slot in line has its key")
    }

    /// Ends the work on a key; one that nobody works on stays as it is.
    pub(super) fn done(
        &mut self,
        Done { key, finished }: Done<'_>,
        hasher: &DefaultHashBuilder,
        now: Instant,
    ) -> Wake {
        self.end_delays(now);
        let under_way = match self.under_way.len() {
            ..=FEW => {
                let slots = self.under_way.iter().map(|work| work.slot);
                self.entries.find_among(slots, key)
            }
            _ => self.entries.find(&Hashed::new(key, hasher)),
        };
        let Some(slot) = under_way else {
            return Wake::Nobody;
        };
        let entry = self.entries.at(slot);
        let Some(place) = entry.work.take() else {
            return Wake::Nobody;
        };
        if finished == Finished::Forget {
            entry.failures = 0;
        }
        let index = place.get() as usize;
        let work = self.under_way.swap_remove(index);
        let worked = now.saturating_duration_since(work.since);
        self.counted.work_duration.observe(worked);
        if let Some(moved) = self.under_way.get(index) {
            self.entries.at(moved.slot).work = Some(place);
        }
        let Wanted::Again { priority, since } = self.entries.wanted(slot) else {
            self.entries.drop_idle(slot);
            return Wake::Nobody;
        };
        self.again -= 1;
        self.line_up(slot, priority, since, now);
        match self.phase {
            // The others wait for exactly this before they go.
            Phase::Draining => Wake::All,
            _ => Wake::One,
        }
    }

    /// Counts one more failure; how long the key has to wait for it.
    pub(super) fn fail(&mut self, key: Hashed<ObjectKey>, now: Instant) -> Duration {
        let slot = self.entries.slot(key);
        let entry = self.entries.at(slot);
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
            self.entries.at(slot).failures = 0;
            self.entries.drop_idle(slot);
        }
    }

    pub(super) fn failures(&self, key: &Hashed<&ObjectKey>) -> u32 {
        let slot = self.entries.find(key);
        slot.map_or(0, |slot| self.entries.get(slot).failures)
    }

    /// How many keys stand in line.
    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Whether nothing is taken in any more and the last key is done.
    pub(super) fn is_over(&self) -> bool {
        self.phase != Phase::Open && self.under_way.is_empty() && self.ready.len() == 0
    }

    /// Takes nothing more in; delays are given up.
    pub(super) fn drain(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Draining;
            for slot in std::mem::take(&mut self.delayed).into_values() {
                self.entries.at(slot).wanted = Wanted::No;
                self.entries.drop_idle(slot);
            }
        }
    }

    /// Takes nothing more in and hands out nothing more.
    pub(super) fn shut_down(&mut self) {
        self.drain();
        self.phase = Phase::ShutDown;
        self.ready = Ready::new(self.options.ageing, self.options.fairness);
        self.again = 0;
        self.entries.unwant_all();
    }

    pub(super) fn metrics(&self, now: Instant) -> Metrics {
        let works = self.under_way.iter();
        let times = works.map(|work| now.saturating_duration_since(work.since));
        let times: Vec<Duration> = times.collect();
        Metrics {
            depth: self.ready.depth(),
            delayed: self.delayed.len(),
            under_way: times.len(),
            unfinished_work: times.iter().sum(),
            longest_running: times.into_iter().max().unwrap_or_default(),
            ..self.counted.clone()
        }
    }

    fn next_delay(&self) -> Option<(Instant, u64)> {
        self.delayed.first_key_value().map(|(first, _)| *first)
    }

    /// Makes those keys ready whose delays are over. Whatever makes a key ready does this first:
    /// the order of keys is the order of their times.
    fn end_delays(&mut self, now: Instant) {
        while let Some(entry) = self.delayed.first_entry() {
            let (time, _) = *entry.key();
            if time > now {
                break;
            }
            let slot = entry.remove();
            if let Wanted::Delayed { priority, .. } = self.entries.wanted(slot) {
                self.become_due(slot, priority, time);
            }
        }
    }

    /// A key that was not wanted, or not yet, is from `time` on.
    fn become_due(&mut self, slot: u32, priority: Priority, time: Instant) -> Wake {
        self.counted.adds += 1;
        let entry = self.entries.at(slot);
        if entry.work.is_some() {
            entry.wanted = Wanted::Again {
                priority,
                since: time,
            };
            self.again += 1;
            return Wake::Nobody;
        }
        self.line_up(slot, priority, time, time);
        Wake::One
    }

    /// Puts the key at the end of its line, where it stands from `time` on.
    fn line_up(&mut self, slot: u32, priority: Priority, since: Instant, time: Instant) {
        let ticket = self.ticket();
        let entry = self.entries.at(slot);
        entry.wanted = Wanted::Ready {
            priority,
            since,
            ticket,
        };
        let place = Place {
            slot,
            ticket,
            since: time,
        };
        let namespace = entry.key.as_ref().and_then(ObjectKey::namespace);
        self.ready.push(priority, namespace, place);
    }

    /// A key that is more urgent than it was goes to the end of the other line.
    fn raise(&mut self, slot: u32, priority: Priority, now: Instant) {
        match self.entries.wanted(slot) {
            Wanted::Ready {
                priority: former,
                since,
                ..
            } if priority > former => {
                self.line_up(slot, priority, since, now);
                let entries = &self.entries;
                self.ready.leave(former, |place| entries.is_live(place));
            }
            Wanted::Again {
                priority: former,
                since,
            } if priority > former => {
                self.entries.at(slot).wanted = Wanted::Again { priority, since };
            }
            _ => {}
        }
    }

    fn priority(&self, slot: u32, asked: Option<Priority>) -> Priority {
        asked.unwrap_or_else(|| {
            let place = self.entries.get(slot).work;
            let work = place.and_then(|place| self.under_way.get(place.get() as usize));
            work.map_or(Priority::NORMAL, |work| work.priority)
        })
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }
}
