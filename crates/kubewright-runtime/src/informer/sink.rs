//! The sink through which a reflector fills an informer.

use std::sync::Arc;

use kubewright_wire::record::Record;

use super::event_buffer::EventBuffer;
use super::state::InformerState;
use super::subscribers::Subscribers;
use super::sync::{Obstacle, SyncPhase};
use crate::Error;
use crate::reflector::Sink;
use crate::store::{ChangeEvent, Delta, Replaced};

/// Writes what a reflector reads into an informer's store, and notifies the subscribers.
pub(super) struct InformerSink {
    state: Arc<InformerState>,
    /// The namespace that the reflector reads, where namespaces are read one by one.
    namespace: Option<String>,
}

impl InformerSink {
    /// The sink of a reflector that reads the whole collection.
    pub(super) fn new(state: Arc<InformerState>) -> Self {
        Self {
            state,
            namespace: None,
        }
    }

    /// The sink of a reflector that reads one namespace. The informer is not synced before it has
    /// the state of that namespace.
    pub(super) fn for_namespace(&self, namespace: &str) -> Self {
        let mut unsynced = self.state.unsynced_namespaces.lock();
        unsynced.insert(namespace.to_owned());
        Self {
            state: Arc::clone(&self.state),
            namespace: Some(namespace.to_owned()),
        }
    }

    /// Removes the objects of a namespace that is no longer read.
    pub(super) fn remove_namespace(&self, namespace: &str) {
        let mut subscribers = self.state.subscribers.lock();
        self.state.unsynced_namespaces.lock().remove(namespace);
        let events = self.state.store.remove_namespace(namespace);
        if self.state.is_synced() {
            subscribers.update_all(push_all(&events));
            self.count(events.len(), 0);
        }
    }

    /// Enters the synced phase if no namespace lacks its initial state.
    pub(super) fn sync_if_complete(&self) {
        let mut subscribers = self.state.subscribers.lock();
        if !self.state.is_synced() && self.state.unsynced_namespaces.lock().is_empty() {
            self.deliver_initial_state(&mut subscribers);
        }
    }

    /// Ends the subscriptions. The store stays readable.
    pub(super) fn stop(&self) {
        let mut subscribers = self.state.subscribers.lock();
        subscribers.is_closed = true;
        // A filled store stays synced for its readers; callers that wait for it get an error.
        if !self.state.is_synced() {
            self.state.enter(SyncPhase::Stopped);
        }
        subscribers.update_all(EventBuffer::close);
    }

    fn deliver_initial_state(&self, subscribers: &mut Subscribers) {
        let snapshot = self.state.store.snapshot();
        subscribers.update_all(|buffer| {
            buffer.fill(snapshot.delivered());
            buffer.sync();
        });
        self.state.enter(SyncPhase::Synced);
    }

    /// Whether the subscribers already have a state, so that they receive changes. Where
    /// namespaces are read one by one, they get their first state when all namespaces are synced.
    fn delivers_changes(&self) -> bool {
        self.namespace.is_none() || self.state.is_synced()
    }

    /// Marks the namespace as synced; whether all are.
    fn completes_sync(&self) -> bool {
        let mut unsynced = self.state.unsynced_namespaces.lock();
        if let Some(namespace) = &self.namespace {
            unsynced.remove(namespace);
        }
        unsynced.is_empty()
    }

    fn count(&self, changes: usize, lists: u64) {
        let mut stats = self.state.stats.lock();
        stats.changes += changes as u64;
        stats.lists += lists;
        stats.last_error = None;
    }
}

fn push_all(events: &[ChangeEvent]) -> impl Fn(&mut EventBuffer) {
    move |buffer| events.iter().for_each(|event| buffer.push(event.clone()))
}

impl Sink for InformerSink {
    fn held(&self, record: &Record) -> Option<Record> {
        let held = self.state.store.delivered(&record.key())?;
        let is_same =
            held.uid() == record.uid() && held.resource_version() == record.resource_version();
        is_same.then_some(held)
    }

    fn replace(&mut self, list: Vec<Record>, resource_version: &str) {
        let mut subscribers = self.state.subscribers.lock();
        let listed = list.len();
        let store = &self.state.store;
        let replaced = store.replace_in(self.namespace.as_deref(), list, resource_version);
        let is_complete = self.completes_sync();
        match replaced {
            Replaced::Changed(events) if self.delivers_changes() => {
                subscribers.update_all(push_all(&events));
                self.count(events.len(), 1);
                self.state.enter(SyncPhase::Synced);
            }
            _ if self.state.is_synced() || is_complete => {
                self.deliver_initial_state(&mut subscribers);
                self.count(listed, 1);
            }
            // Subscribers get the initial state after the list of the last namespace.
            _ => self.count(listed, 1),
        }
    }

    fn kind_removed(&mut self) {
        let mut subscribers = self.state.subscribers.lock();
        let store = &self.state.store;
        let replaced = store.replace_in(self.namespace.as_deref(), Vec::new(), "");
        if let Replaced::Changed(events) = replaced {
            subscribers.update_all(push_all(&events));
            self.state.stats.lock().changes += events.len() as u64;
        }
        self.state.enter(SyncPhase::Blocked(Obstacle::NotServed));
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        let mut subscribers = self.state.subscribers.lock();
        let store = &self.state.store;
        let events = store.apply_in(self.namespace.as_deref(), deltas);
        if !events.is_empty() && self.delivers_changes() {
            subscribers.update_all(push_all(&events));
        }
        self.count(events.len(), 0);
    }

    fn skipped(&mut self, objects: u64, last: Arc<Error>) {
        tracing::warn!(
            error = &*last as &(dyn std::error::Error + 'static),
            "skipped {objects} unreadable objects of {}",
            self.state.spec.what()
        );
        let mut stats = self.state.stats.lock();
        stats.unreadable += objects;
        stats.last_error = Some(last);
    }

    fn failed(&mut self, error: Arc<Error>) {
        tracing::warn!(
            error = &*error as &(dyn std::error::Error + 'static),
            "list or watch of {} failed, retrying",
            self.state.spec.what()
        );
        let obstacle = Obstacle::of(&error);
        {
            let mut stats = self.state.stats.lock();
            stats.failures += 1;
            stats.last_error = Some(error);
        }
        // A synced store stays readable while its permission is missing.
        if !self.state.is_synced() {
            self.state
                .enter(obstacle.map_or(SyncPhase::Starting, SyncPhase::Blocked));
        }
    }
}
