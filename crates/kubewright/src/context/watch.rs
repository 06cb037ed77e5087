//! Watches that a reconcile function starts for kinds that follow from the objects.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kubewright_core::ObjectKey;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::controller::{self as runtime, Failure, Source};
use kubewright_runtime::store::Store;

use super::Context;
use crate::kinds::{AnyKind, Cache, Selection, SelectionIndex, add_indexes, by_mapper, index_name};
use crate::{Error, Result};

/// A watch of one more kind, and the objects of that kind; from [`Context::watch`].
///
/// Dropping it ends the watch.
#[must_use = "dropped, the watch ends"]
pub struct Watch<W> {
    view: View<W>,
    watch: runtime::RunningSource,
    indexes: WatchIndexes,
}

/// The indexes of one watch, removed when it is dropped.
struct WatchIndexes {
    controller: String,
    /// Identifies the watch: several watches of a controller may share an informer.
    owner: String,
    names: Vec<String>,
    store: Store,
}

static WATCHES: AtomicU64 = AtomicU64::new(1);

impl WatchIndexes {
    fn add<W: AnyKind>(controller: &str, view: &View<W>, indexes: &[SelectionIndex<W>]) -> Self {
        let number = WATCHES.fetch_add(1, Ordering::Relaxed);
        let owner = format!("{controller}#{number}");
        add_indexes(view, &owner, indexes);
        Self {
            controller: controller.to_owned(),
            owner,
            names: indexes
                .iter()
                .filter_map(|index| index.name().map(str::to_owned))
                .collect(),
            store: view.informer().store().clone(),
        }
    }
}

impl Drop for WatchIndexes {
    fn drop(&mut self) {
        for name in &self.names {
            self.store.remove_index(&index_name(&self.owner, name));
        }
    }
}

impl<K: AnyKind> Context<K> {
    /// Watches one more kind until the returned value is dropped, and enqueues the keys that
    /// `mapper` returns: for kinds that follow from the objects themselves.
    ///
    /// Store the value in the controller's state for the next runs. Reading and watching the kind
    /// must be granted, by [`grants`](crate::Controller::grants) if it is not registered.
    pub fn watch<W, F, I>(&self, kind: Selection<W>, mapper: F) -> Result<Watch<W>>
    where
        W: AnyKind,
        F: Fn(&W, &Cache<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        let environment = &self.environment;
        let own = environment
            .views
            .find::<K>(&environment.own)
            .ok_or_else(|| Error::Invalid {
                what: format!("watch {}", kind.resource.qualified_name()),
                why: "the controller does not read its own kind, which is a bug; please report it",
            })?;
        let controller = environment.controller.name();
        if let Some(unused) = kind.needless_namespace() {
            return Err(Failure::from(Error::UnusedOption {
                controller: controller.to_owned(),
                kind: kind.resource.kind.kind,
                option: unused.option,
                registration: unused.registration,
            }));
        }
        let spec = kind.filter.spec(controller, &kind.resource)?;
        let informer = environment.informers.get(&spec.with_content(kind.content));
        let store = own.informer().store().clone();
        let view = View::new(informer.clone());
        let indexes = WatchIndexes::add(controller, &view, &kind.indexes);
        let cache = Cache::new(own.clone());
        let mapper = by_mapper(kind.predicate, view.clone(), cache, mapper);
        let source = Source::new(informer, mapper)
            .enqueue_all_on_panic(store)
            .priority(kind.priority)
            .debounce(kind.debounce);
        Ok(Watch {
            view,
            watch: environment.controller.add_source(source),
            indexes,
        })
    }
}

impl<W: AnyKind> Watch<W> {
    /// Waits for the initial list of objects. Returns false if the operator stops first.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future has no effect; call it again to continue waiting.
    pub async fn synced(&mut self) -> bool {
        self.watch.synced().await
    }

    /// Returns all objects; each is decoded when the iteration reaches it.
    pub fn list(&self) -> List<W> {
        self.view.list()
    }

    /// Returns the objects that have the value in an index of the selection
    /// ([`Selection::index`](crate::controller::Selection::index)).
    pub fn by_index(&self, name: &str, value: &str) -> Result<List<W>> {
        let index = index_name(&self.indexes.owner, name);
        Ok(self
            .view
            .by_index(&index, value)
            .map_err(|_| Error::Unindexed {
                controller: self.indexes.controller.clone(),
                kind: self.view.informer().spec().resource.kind.kind.clone(),
                name: name.to_owned(),
                selection: "watch".to_owned(),
            })?)
    }

    /// Returns an object, or `None` if it does not exist.
    pub fn get(&self, key: &ObjectKey) -> Result<Option<Arc<W>>> {
        Ok(self.view.get(key)?)
    }
}

impl<W> fmt::Debug for Watch<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
