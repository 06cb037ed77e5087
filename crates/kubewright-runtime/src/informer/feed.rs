use std::sync::Arc;

use kubewright_wire::record::Record;

use super::handle::{Shared, Subscribers};
use super::inbox::Inbox;
use super::sync::{Obstacle, Phase};
use crate::Error;
use crate::reflector::Sink;
use crate::store::{ChangeEvent, Delta, Replaced};

/// The side of an informer that its reflector feeds.
pub(super) struct Feed {
    pub(super) shared: Arc<Shared>,
    /// The namespace that is fed, where they are read one by one.
    pub(super) part: Option<String>,
}

impl Feed {
    /// Expects the first state of one more namespace.
    pub(super) fn expect(&self, part: &str) {
        self.shared.awaited.lock().insert(part.to_owned());
    }

    /// Forgets a namespace that is not read any more.
    pub(super) fn leave(&self, part: &str) {
        let mut subscribers = self.shared.subscribers.lock();
        self.shared.awaited.lock().remove(part);
        let events = self.shared.store.remove_namespace(part);
        if self.is_synced() {
            subscribers.tell(push_all(&events));
            self.count(events.len(), 0);
        }
    }

    /// Tells subscribers that all is there, when nothing is awaited any more.
    pub(super) fn sync_if_complete(&self) {
        let mut subscribers = self.shared.subscribers.lock();
        if !self.is_synced() && self.shared.awaited.lock().is_empty() {
            self.fill(&mut subscribers);
        }
    }

    fn fill(&self, subscribers: &mut Subscribers) {
        let snapshot = self.shared.store.snapshot();
        subscribers.tell(|inbox| {
            inbox.fill(snapshot.delivered());
            inbox.sync();
        });
        self.enter(Phase::Synced);
    }

    /// Whether subscribers have been told a state: with several namespaces, only when all have
    /// theirs.
    fn is_told(&self) -> bool {
        self.part.is_none() || self.is_synced()
    }

    fn is_synced(&self) -> bool {
        *self.shared.phase.borrow() == Phase::Synced
    }

    /// Whether the state of all that is read is there, this one's included.
    fn completes(&self) -> bool {
        let mut awaited = self.shared.awaited.lock();
        if let Some(part) = &self.part {
            awaited.remove(part);
        }
        awaited.is_empty()
    }

    fn count(&self, changes: usize, lists: u64) {
        let mut stats = self.shared.stats.lock();
        stats.changes += changes as u64;
        stats.lists += lists;
        stats.last_error = None;
    }

    fn enter(&self, phase: Phase) {
        self.shared.phase.send_if_modified(|present| {
            let is_new = *present != phase;
            *present = phase;
            is_new
        });
    }

    /// Ends the subscriptions; the store stays readable.
    pub(super) fn stop(&self) {
        let mut subscribers = self.shared.subscribers.lock();
        subscribers.closed = true;
        // A store that was filled stays synced for its readers; those who still wait are told.
        if *self.shared.phase.borrow() != Phase::Synced {
            self.enter(Phase::Stopped);
        }
        subscribers.tell(Inbox::close);
    }
}

fn push_all(events: &[ChangeEvent]) -> impl Fn(&mut Inbox) {
    move |inbox| events.iter().for_each(|event| inbox.push(event.clone()))
}

impl Sink for Feed {
    fn held(&self, record: &Record) -> Option<Record> {
        let held = self.shared.store.delivered(&record.key())?;
        let same =
            held.uid() == record.uid() && held.resource_version() == record.resource_version();
        same.then_some(held)
    }

    fn replace(&mut self, list: Vec<Record>, resource_version: &str) {
        let mut subscribers = self.shared.subscribers.lock();
        let listed = list.len();
        let store = &self.shared.store;
        let replaced = store.replace_in(self.part.as_deref(), list, resource_version);
        let is_complete = self.completes();
        match replaced {
            Replaced::Changed(events) if self.is_told() => {
                subscribers.tell(push_all(&events));
                self.count(events.len(), 1);
                self.enter(Phase::Synced);
            }
            _ if self.is_synced() || is_complete => {
                self.fill(&mut subscribers);
                self.count(listed, 1);
            }
            // Others are still awaited; all is told when the last is there.
            _ => self.count(listed, 1),
        }
    }

    fn withdrawn(&mut self) {
        let mut subscribers = self.shared.subscribers.lock();
        let store = &self.shared.store;
        if let Replaced::Changed(events) = store.replace_in(self.part.as_deref(), Vec::new(), "") {
            subscribers.tell(push_all(&events));
            self.shared.stats.lock().changes += events.len() as u64;
        }
        self.enter(Phase::Blocked(Obstacle::NotServed));
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        let mut subscribers = self.shared.subscribers.lock();
        let events = self.shared.store.apply_in(self.part.as_deref(), deltas);
        if !events.is_empty() && self.is_told() {
            subscribers.tell(push_all(&events));
        }
        self.count(events.len(), 0);
    }

    fn skipped(&mut self, objects: u64, last: Arc<Error>) {
        tracing::warn!(
            error = &*last as &(dyn std::error::Error + 'static),
            "{objects} of {} left out",
            self.shared.spec.what()
        );
        let mut stats = self.shared.stats.lock();
        stats.unreadable += objects;
        stats.last_error = Some(last);
    }

    fn failed(&mut self, error: Arc<Error>) {
        tracing::warn!(
            error = &*error as &(dyn std::error::Error + 'static),
            "following {} failed",
            self.shared.spec.what()
        );
        let obstacle = Obstacle::of(&error);
        {
            let mut stats = self.shared.stats.lock();
            stats.failures += 1;
            stats.last_error = Some(error);
        }
        // What was read once stays readable while its permission is missing.
        if *self.shared.phase.borrow() != Phase::Synced {
            self.enter(obstacle.map_or(Phase::Starting, Phase::Blocked));
        }
    }
}
