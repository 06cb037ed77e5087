use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::controller::{self as runtime, Source};

use super::Context;
use crate::registration::{AnyKind, Cache, Selection, by_mapper, parse_selector, spec};
use crate::{Error, Result};

/// A kind that wakes the controller from now on, and its objects; made by [`Context::watch`].
///
/// Dropped, it wakes nobody any more.
#[must_use = "dropped, the watch ends"]
pub struct Watch<W> {
    view: View<W>,
    watch: runtime::Watch,
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
        let labels = parse_selector(
            shared.controller.name(),
            &kind.resource.kind.kind,
            kind.labels.as_deref(),
        )?;
        let spec = spec(&kind.resource, labels).keeping(kind.content);
        let informer = shared.informers.get(&spec);
        let store = own.informer().store().clone();
        let view = View::new(informer.clone());
        let cache = Cache::new(own.clone());
        let mapper = by_mapper(kind.predicate, view.clone(), cache, mapper);
        let source = Source::new(informer, mapper).or_all_of(store);
        Ok(Watch {
            view,
            watch: shared.controller.watch(source),
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
