use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kubewright_core::ObjectKey;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::controller::{self as runtime, Failure, Source};
use kubewright_runtime::store::Store;

use super::Context;
use crate::controller::{AnyKind, Cache, Selection, Wanted, add_indexes, by_mapper, index_name};
use crate::{Error, Result};

/// A kind that wakes the controller from now on, and its objects; made by [`Context::watch`].
///
/// Dropped, it wakes nobody any more.
#[must_use = "dropped, the watch ends"]
pub struct Watch<W> {
    view: View<W>,
    watch: runtime::RunningSource,
    indexes: Indexes,
}

/// The indexes of one watch, which end with it.
struct Indexes {
    controller: String,
    /// Which watch of which controller: two of them may share an informer.
    owner: String,
    names: Vec<String>,
    store: Store,
}

static WATCHES: AtomicU64 = AtomicU64::new(1);

impl Indexes {
    fn add<W: AnyKind>(controller: &str, view: &View<W>, indexes: &[Wanted<W>]) -> Self {
        let number = WATCHES.fetch_add(1, Ordering::Relaxed);
        let owner = format!("{controller}#{number}");
        add_indexes(view, &owner, indexes);
        Self {
            controller: controller.to_owned(),
            owner,
            names: indexes
                .iter()
                .filter_map(|one| one.name().map(str::to_owned))
                .collect(),
            store: view.informer().store().clone(),
        }
    }
}

impl Drop for Indexes {
    fn drop(&mut self) {
        for name in &self.names {
            self.store.remove_index(&index_name(&self.owner, name));
        }
    }
}

impl<K: AnyKind> Context<K> {
    /// Lets changes of one more kind wake the controller, from now until what is returned is
    /// dropped: for kinds that follow from the objects themselves.
    ///
    /// Keep it in the controller's state, where the next run finds it. Reading and watching the
    /// kind must be granted, by [`may`](crate::Controller::may) where it is not registered.
    pub fn watch<W, F, I>(&self, kind: Selection<W>, mapper: F) -> Result<Watch<W>>
    where
        W: AnyKind,
        F: Fn(&W, &Cache<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        let shared = &self.shared;
        let own = shared.views.find::<K>(&shared.own);
        let own = own.ok_or_else(|| Error::Refused {
            what: format!("watch {}", kind.resource.qualified_name()),
            why: "the controller does not read its own kind, which is a bug; please report it",
        })?;
        let controller = shared.controller.name();
        if let Some((option, registration)) = kind.misplaced() {
            return Err(Failure::from(Error::UnusedOption {
                controller: controller.to_owned(),
                kind: kind.resource.kind.kind,
                option,
                registration,
            }));
        }
        let spec = kind.extent.spec(controller, &kind.resource)?;
        let informer = shared.informers.get(&spec.with_content(kind.content));
        let store = own.informer().store().clone();
        let view = View::new(informer.clone());
        let indexes = Indexes::add(controller, &view, &kind.indexes);
        let cache = Cache::new(own.clone());
        let mapper = by_mapper(kind.predicate, view.clone(), cache, mapper);
        let source = Source::new(informer, mapper)
            .enqueue_all_on_panic(store)
            .priority(kind.priority)
            .debounce(kind.debounce);
        Ok(Watch {
            view,
            watch: shared.controller.add_source(source),
            indexes,
        })
    }
}

impl<W: AnyKind> Watch<W> {
    /// Returns when all objects that were there at the beginning are known; false when the
    /// operator stops before.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped; call it again to wait on.
    pub async fn synced(&mut self) -> bool {
        self.watch.synced().await
    }

    /// All objects that are known, decoded as they are walked.
    pub fn list(&self) -> List<W> {
        self.view.list()
    }

    /// The objects that have the value in an index of the selection
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

    /// One object.
    pub fn get(&self, key: &ObjectKey) -> Result<Option<Arc<W>>> {
        Ok(self.view.get(key)?)
    }
}

impl<W> fmt::Debug for Watch<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}
