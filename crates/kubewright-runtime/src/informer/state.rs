//! The state of an informer, shared by its handles and its reflector.

use std::any::{Any, TypeId};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kubewright_wire::record::Record;
use parking_lot::Mutex;
use tokio::sync::watch;

use super::memory_budget::MemoryBudget;
use super::stats::InformerStats;
use super::subscribers::Subscribers;
use super::sync::SyncPhase;
use crate::NamespaceSet;
use crate::reflector::{InformerSpec, ReflectorOptions};
use crate::store::{Filter, ResponseTransform, Store};

/// The state of an informer.
pub(super) struct InformerState {
    pub(super) spec: InformerSpec,
    pub(super) store: Store,
    /// Held while the store changes and the subscribers are notified, so that a new subscriber
    /// receives each change exactly once: in its initial state or as an event.
    pub(super) subscribers: Mutex<Subscribers>,
    pub(super) phase: watch::Sender<SyncPhase>,
    /// The counters; sizes and revision come from the store.
    pub(super) stats: Mutex<InformerStats>,
    /// The namespaces without an initial state, where namespaces are read one by one.
    pub(super) unsynced_namespaces: Mutex<BTreeSet<String>>,
    /// The decoded objects of the views, by the type that they decode to.
    extensions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    budget: Arc<MemoryBudget>,
}

impl InformerState {
    pub(super) fn new(
        spec: InformerSpec,
        namespaces: Option<NamespaceSet>,
        reflector: &ReflectorOptions,
        budget: Arc<MemoryBudget>,
    ) -> Self {
        let kind = spec.resource.kind.clone();
        let transform = reflector.transform_of(&spec.resource).cloned();
        let response_transform = transform.map(|transform| -> ResponseTransform {
            Arc::new(move |response: &Record| transform.apply_to_response(&kind, response))
        });
        let filter = Filter {
            within: namespaces,
            ..spec.filter()
        };
        Self {
            store: Store::with_transform(filter, response_transform),
            unsynced_namespaces: Mutex::default(),
            spec,
            subscribers: Mutex::default(),
            phase: watch::Sender::new(SyncPhase::Starting),
            stats: Mutex::default(),
            extensions: Mutex::default(),
            budget,
        }
    }

    pub(super) fn is_synced(&self) -> bool {
        *self.phase.borrow() == SyncPhase::Synced
    }

    pub(super) fn enter(&self, phase: SyncPhase) {
        self.phase.send_if_modified(|current| {
            let is_new = *current != phase;
            *current = phase;
            is_new
        });
    }

    /// The value of type `T` that belongs to this informer, created on the first call.
    pub(super) fn extension<T: Send + Sync + 'static>(
        &self,
        create: impl FnOnce(Arc<MemoryBudget>) -> T,
    ) -> Arc<T> {
        let mut extensions = self.extensions.lock();
        let value = extensions
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::new(create(self.budget.clone())));
        Arc::clone(value)
            .downcast()
            .expect("the value is stored under its own type")
    }
}
