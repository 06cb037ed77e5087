use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use kubewright_wire::record::Record;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::inbox::Inbox;
use super::subscription::{self, Subscription};
use super::{InformerSpec, Stats};
use crate::Error;
use crate::cache::Budget;
use crate::reflector::Sink;
use crate::store::{Delta, Event, Replaced, Store};

/// One followed collection: its store, and its subscribers. Cloning shares it.
#[derive(Clone)]
pub struct Informer {
    shared: Arc<Shared>,
}

struct Shared {
    spec: InformerSpec,
    store: Store,
    /// Held while the store changes and the subscribers are told, so that each of them has
    /// either the state before or the event.
    subscribers: Mutex<Subscribers>,
    phase: watch::Sender<Phase>,
    stats: Mutex<Stats>,
    /// What views have decoded, by their type.
    decoded: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    budget: Arc<Budget>,
}

#[derive(Default)]
struct Subscribers {
    all: Vec<Weak<subscription::Shared>>,
    /// Whether nothing more will be told.
    closed: bool,
}

/// Whether the first list is in the store; what is there stays when the informer stops.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Starting,
    Synced,
    /// Stopped before it.
    Stopped,
}

/// An informer that was stopped before its first list.
#[derive(Debug, thiserror::Error)]
#[error("wait for the first list of {what}: the informer was stopped before it")]
pub struct SyncError {
    what: String,
    /// The latest failure, when there was one.
    #[source]
    source: Option<Arc<Error>>,
}

impl Informer {
    pub(super) fn new(spec: InformerSpec, budget: Arc<Budget>) -> Self {
        Self {
            shared: Arc::new(Shared {
                store: Store::new(spec.filter()),
                spec,
                subscribers: Mutex::default(),
                phase: watch::Sender::new(Phase::Starting),
                stats: Mutex::default(),
                decoded: Mutex::default(),
                budget,
            }),
        }
    }

    /// What is followed.
    pub fn spec(&self) -> &InformerSpec {
        &self.shared.spec
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Word of what changes, beginning with what is there now.
    pub fn subscribe(&self) -> Subscription {
        let mut subscribers = self.shared.subscribers.lock();
        let mut inbox = Inbox::default();
        if subscribers.closed {
            inbox.close();
        } else if self.is_synced() {
            inbox.fill(self.shared.store.snapshot().delivered());
            inbox.sync();
        }
        let subscription = Subscription::new(inbox);
        subscribers.all.push(Arc::downgrade(&subscription.shared));
        subscription
    }

    /// Waits until the first list is in the store. Failures are retried for as long as it takes:
    /// see [`Informer::last_error`] for why it takes long.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is lost.
    pub async fn synced(&self) -> Result<(), SyncError> {
        let mut phase = self.shared.phase.subscribe();
        let reached = phase.wait_for(|phase| *phase != Phase::Starting).await;
        match reached.map(|phase| *phase) {
            Ok(Phase::Synced) => Ok(()),
            _ => Err(SyncError {
                what: self.shared.spec.what(),
                source: self.last_error(),
            }),
        }
    }

    /// Whether the first list is in the store.
    pub fn is_synced(&self) -> bool {
        *self.shared.phase.borrow() == Phase::Synced
    }

    /// The latest failure, while nothing has worked since.
    pub fn last_error(&self) -> Option<Arc<Error>> {
        self.shared.stats.lock().last_error.clone()
    }

    /// What the informer has done so far.
    pub fn stats(&self) -> Stats {
        self.shared.stats.lock().clone()
    }

    /// The one value of type `T` that belongs to this informer.
    pub(crate) fn extension<T: Send + Sync + 'static>(
        &self,
        make: impl FnOnce(Arc<Budget>) -> T,
    ) -> Arc<T> {
        let mut decoded = self.shared.decoded.lock();
        let value = decoded
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::new(make(self.shared.budget.clone())));
        Arc::clone(value)
            .downcast()
            .expect("the key is the value's own type")
    }

    /// The side that the reflector feeds.
    pub(super) fn feed(&self) -> Feed {
        Feed {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Ends the subscriptions; the store stays readable.
    pub(super) fn stop(&self) {
        let mut subscribers = self.shared.subscribers.lock();
        subscribers.closed = true;
        // A store that was filled stays synced for its readers; those who still wait are told.
        self.shared.phase.send_if_modified(|phase| {
            let waits = *phase == Phase::Starting;
            if waits {
                *phase = Phase::Stopped;
            }
            waits
        });
        subscribers.tell(Inbox::close);
    }
}

impl fmt::Debug for Informer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("spec", &self.shared.spec)
            .field("store", &self.shared.store)
            .finish_non_exhaustive()
    }
}

pub(super) struct Feed {
    shared: Arc<Shared>,
}

impl Subscribers {
    /// Calls `tell` for every subscriber that is still there.
    fn tell(&mut self, tell: impl Fn(&mut Inbox)) {
        self.all.retain(|subscriber| {
            let Some(subscriber) = subscriber.upgrade() else {
                return false;
            };
            subscriber.fill(&tell);
            true
        });
    }
}

impl Feed {
    fn count(&self, changes: usize, lists: u64) {
        let mut stats = self.shared.stats.lock();
        stats.changes += changes as u64;
        stats.lists += lists;
        stats.last_error = None;
    }
}

fn push_all(events: &[Event]) -> impl Fn(&mut Inbox) {
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
        match self.shared.store.replace(list, resource_version) {
            Replaced::Filled => {
                let snapshot = self.shared.store.snapshot();
                subscribers.tell(|inbox| {
                    inbox.fill(snapshot.delivered());
                    inbox.sync();
                });
                self.count(listed, 1);
            }
            Replaced::Changed(events) => {
                subscribers.tell(push_all(&events));
                self.count(events.len(), 1);
            }
        }
        self.shared.phase.send_if_modified(|phase| {
            let first = *phase == Phase::Starting;
            *phase = Phase::Synced;
            first
        });
    }

    fn apply(&mut self, deltas: Vec<Delta>) {
        let mut subscribers = self.shared.subscribers.lock();
        let events = self.shared.store.apply(deltas);
        if !events.is_empty() {
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
        let mut stats = self.shared.stats.lock();
        stats.failures += 1;
        stats.last_error = Some(error);
    }
}
