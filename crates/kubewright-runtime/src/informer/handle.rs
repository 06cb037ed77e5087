//! The handle of one informer.

use std::fmt;
use std::sync::{Arc, Weak};

use super::event_buffer::EventBuffer;
use super::keep_alive::KeepAlive;
use super::memory_budget::MemoryBudget;
use super::state::InformerState;
use super::stats::{InformerStats, InformerStatus};
use super::subscribers::Mailbox;
use super::subscription::Subscription;
use super::sync::{Obstacle, SyncError, SyncPhase};
use crate::Error;
use crate::reflector::InformerSpec;
use crate::store::Store;

/// A collection that is listed and watched: its store and its subscribers. Clones share it. It
/// stops when the last clone, view and subscription is dropped.
#[derive(Clone)]
pub struct Informer {
    state: Arc<InformerState>,
    keep_alive: Arc<KeepAlive>,
}

/// An informer that does not keep itself running.
pub(super) struct WeakInformer {
    state: Arc<InformerState>,
    keep_alive: Weak<KeepAlive>,
}

impl WeakInformer {
    /// The informer, if it is still in use.
    pub(super) fn upgrade(&self) -> Option<Informer> {
        Some(Informer {
            state: Arc::clone(&self.state),
            keep_alive: self.keep_alive.upgrade()?,
        })
    }

    pub(super) fn is_in_use(&self) -> bool {
        self.keep_alive.strong_count() > 0
    }
}

impl Informer {
    pub(super) fn new(state: InformerState, keep_alive: KeepAlive) -> Self {
        Self {
            state: Arc::new(state),
            keep_alive: Arc::new(keep_alive),
        }
    }

    /// The collection that is listed and watched.
    pub fn spec(&self) -> &InformerSpec {
        &self.state.spec
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.state.store
    }

    /// Subscribes to all changes, beginning with the current objects.
    pub fn subscribe(&self) -> Subscription {
        let mut subscribers = self.state.subscribers.lock();
        let mut buffer = EventBuffer::default();
        if subscribers.is_closed {
            buffer.close();
        } else if self.is_synced() {
            buffer.fill(self.state.store.snapshot().delivered());
            buffer.sync();
        }
        let mailbox = Arc::new(Mailbox::new(buffer));
        subscribers.add(&mailbox);
        Subscription::new(mailbox, self.store().clone(), Arc::clone(&self.keep_alive))
    }

    /// Waits until the first list is in the store. Failures are retried without a limit. Use
    /// [`Informer::try_synced`] to return on failures that need an action, and
    /// [`Informer::last_error`] to see why it takes long.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the informer.
    pub async fn synced(&self) -> Result<(), SyncError> {
        self.wait_for(|phase| matches!(phase, SyncPhase::Synced | SyncPhase::Stopped))
            .await
    }

    /// Waits until the first list is in the store, or fails as soon as a permission or the kind is
    /// missing. The informer retries in either case.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect on the informer.
    pub async fn try_synced(&self) -> Result<(), SyncError> {
        self.wait_for(|phase| *phase != SyncPhase::Starting).await
    }

    async fn wait_for(&self, is_reached: impl Fn(&SyncPhase) -> bool) -> Result<(), SyncError> {
        let mut phase = self.state.phase.subscribe();
        let reached = phase.wait_for(is_reached).await;
        let (what, source) = (self.state.spec.what(), self.last_error());
        match reached.map(|phase| *phase) {
            Ok(SyncPhase::Synced) => Ok(()),
            Ok(SyncPhase::Blocked(obstacle)) => Err(obstacle.error(what, source)),
            _ => Err(SyncError::Stopped { what, source }),
        }
    }

    /// Whether the first list is in the store.
    pub fn is_synced(&self) -> bool {
        self.state.is_synced()
    }

    /// What keeps the informer from its first list, where a user has to act.
    pub fn obstacle(&self) -> Option<Obstacle> {
        match *self.state.phase.borrow() {
            SyncPhase::Blocked(obstacle) => Some(obstacle),
            SyncPhase::Starting | SyncPhase::Synced | SyncPhase::Stopped => None,
        }
    }

    /// The latest failure. None after a list or watch has succeeded since.
    pub fn last_error(&self) -> Option<Arc<Error>> {
        self.state.stats.lock().last_error.clone()
    }

    /// The counters of the informer, and the size of its store.
    pub fn stats(&self) -> InformerStats {
        let store = &self.state.store;
        InformerStats {
            objects: store.delivered_count(),
            bytes: store.byte_len(),
            revision: store.revision(),
            ..self.state.stats.lock().clone()
        }
    }

    /// The status without the lag, which only the set of informers knows.
    pub(super) fn status(&self) -> InformerStatus {
        InformerStatus {
            spec: self.state.spec.clone(),
            is_synced: self.is_synced(),
            obstacle: self.obstacle(),
            stats: self.stats(),
            lag: None,
        }
    }

    /// The value of type `T` that belongs to this informer, created on the first call.
    pub(crate) fn extension<T: Send + Sync + 'static>(
        &self,
        create: impl FnOnce(Arc<MemoryBudget>) -> T,
    ) -> Arc<T> {
        self.state.extension(create)
    }

    pub(super) fn state(&self) -> &Arc<InformerState> {
        &self.state
    }

    pub(super) fn keep_alive(&self) -> &KeepAlive {
        &self.keep_alive
    }

    pub(super) fn downgrade(&self) -> WeakInformer {
        WeakInformer {
            state: Arc::clone(&self.state),
            keep_alive: Arc::downgrade(&self.keep_alive),
        }
    }
}

impl fmt::Debug for Informer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("spec", &self.state.spec)
            .field("store", &self.state.store)
            .finish_non_exhaustive()
    }
}
