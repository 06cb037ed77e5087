use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Weak};

use kubewright_wire::record::Record;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::feed::Feed;
use super::inbox::Inbox;
use super::lease::Lease;
use super::subscription::{self, Subscription};
use super::sync::Phase;
use super::{InformerSpec, InformerStatus, Obstacle, Stats, SyncError};
use crate::cache::Budget;
use crate::reflector::ReflectorOptions;
use crate::store::{Filter, ResponseTransform, Store};
use crate::{Error, NamespaceSet};

/// One followed collection: its store, and its subscribers. Cloning shares it; with the last clone,
/// view and subscription it stops.
#[derive(Clone)]
pub struct Informer {
    shared: Arc<Shared>,
    lease: Arc<Lease>,
}

pub(super) struct Shared {
    pub(super) spec: InformerSpec,
    pub(super) store: Store,
    /// Held while the store changes and the subscribers are told, so that each of them has
    /// either the state before or the event.
    pub(super) subscribers: Mutex<Subscribers>,
    pub(super) phase: watch::Sender<Phase>,
    /// Without what the store can tell.
    pub(super) stats: Mutex<Stats>,
    /// The namespaces whose first state is not there yet, where they are read one by one.
    pub(super) awaited: Mutex<BTreeSet<String>>,
    /// What views have decoded, by their type.
    decoded: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    budget: Arc<Budget>,
}

impl Shared {
    pub(super) fn new(
        spec: InformerSpec,
        within: Option<NamespaceSet>,
        reflector: &ReflectorOptions,
        budget: Arc<Budget>,
    ) -> Self {
        let kind = spec.resource.kind.clone();
        let transform = reflector.transform_of(&spec.resource).cloned();
        let shape = transform.map(|transform| -> ResponseTransform {
            Arc::new(move |answer: &Record| transform.of_answer(&kind, answer))
        });
        let filter = Filter {
            within,
            ..spec.filter()
        };
        Self {
            store: Store::with_transform(filter, shape),
            awaited: Mutex::default(),
            spec,
            subscribers: Mutex::default(),
            phase: watch::Sender::new(Phase::Starting),
            stats: Mutex::default(),
            decoded: Mutex::default(),
            budget,
        }
    }
}

#[derive(Default)]
pub(super) struct Subscribers {
    all: Vec<Weak<subscription::Shared>>,
    /// Whether nothing more will be told.
    pub(super) closed: bool,
}

impl Subscribers {
    /// Calls `tell` for every subscriber that is still there.
    pub(super) fn tell(&mut self, tell: impl Fn(&mut Inbox)) {
        self.all.retain(|subscriber| {
            let Some(subscriber) = subscriber.upgrade() else {
                return false;
            };
            subscriber.fill(&tell);
            true
        });
    }
}

impl Informer {
    pub(super) fn new(shared: Arc<Shared>, lease: Arc<Lease>) -> Self {
        Self { shared, lease }
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
        let subscription = Subscription::new(inbox, self.clone());
        subscribers.all.push(Arc::downgrade(&subscription.shared));
        subscription
    }

    /// Waits until the first list is in the store. Failures are retried for as long as it takes:
    /// see [`Informer::try_synced`] for those that somebody has to do something about, and
    /// [`Informer::last_error`] for why it takes long.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is lost.
    pub async fn synced(&self) -> Result<(), SyncError> {
        self.reach(|phase| matches!(phase, Phase::Synced | Phase::Stopped))
            .await
    }

    /// Waits until the first list is in the store, or is known to be out of reach: a missing
    /// permission or kind is told at once. The informer goes on looking all the same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, nothing is lost.
    pub async fn try_synced(&self) -> Result<(), SyncError> {
        self.reach(|phase| *phase != Phase::Starting).await
    }

    async fn reach(&self, is_reached: impl Fn(&Phase) -> bool) -> Result<(), SyncError> {
        let mut phase = self.shared.phase.subscribe();
        let reached = phase.wait_for(is_reached).await;
        let (what, source) = (self.shared.spec.what(), self.last_error());
        match reached.map(|phase| *phase) {
            Ok(Phase::Synced) => Ok(()),
            Ok(Phase::Blocked(obstacle)) => Err(obstacle.error(what, source)),
            _ => Err(SyncError::Stopped { what, source }),
        }
    }

    /// Whether the first list is in the store.
    pub fn is_synced(&self) -> bool {
        *self.shared.phase.borrow() == Phase::Synced
    }

    /// Why there is no state, where somebody has to do something about it.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match *self.shared.phase.borrow() {
            Phase::Blocked(obstacle) => Some(obstacle),
            Phase::Starting | Phase::Synced | Phase::Stopped => None,
        }
    }

    /// The latest failure, while nothing has worked since.
    pub fn last_error(&self) -> Option<Arc<Error>> {
        self.shared.stats.lock().last_error.clone()
    }

    /// What the informer has done so far, and what it holds.
    pub fn stats(&self) -> Stats {
        let store = &self.shared.store;
        Stats {
            objects: store.delivered_count(),
            bytes: store.byte_len(),
            revision: store.revision(),
            ..self.shared.stats.lock().clone()
        }
    }

    /// All that metrics and readiness want to know, but for the lag.
    pub(super) fn status(&self) -> InformerStatus {
        InformerStatus {
            spec: self.shared.spec.clone(),
            is_synced: self.is_synced(),
            obstacle: self.obstacle(),
            stats: self.stats(),
            lag: None,
        }
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

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// The side that the reflector feeds.
    pub(super) fn feed(&self) -> Feed {
        Feed {
            shared: Arc::clone(&self.shared),
            part: None,
        }
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
