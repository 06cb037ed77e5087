//! The views of the kinds that one controller or webhook reads.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;

use kube::core::DynamicObject;
use kubewright_core::Resource;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::informer::{Informer, InformerSpec};
use kubewright_runtime::store::Store;

use super::{AnyKind, ObjectFilter, SelectionIndex, TypedKind, ViewId, add_indexes, index_name};
use crate::Error;

/// The kinds that one controller reads, each with its one view.
#[derive(Debug)]
pub(crate) struct Views {
    controller: String,
    views: HashMap<ViewId, AnyView>,
    /// The kinds that are registered by `owns`, in whatever form they are read.
    owned: HashSet<Resource>,
}

/// A view without the type of its objects.
pub(crate) struct AnyView {
    informer: Informer,
    view: Box<dyn Any + Send + Sync>,
}

impl AnyView {
    /// Opens a view with the indexes of the controller or webhook of that name.
    pub(crate) fn indexed<W: AnyKind>(
        owner: &str,
        indexes: &[SelectionIndex<W>],
        informer: Informer,
    ) -> Self {
        let view = View::new(informer);
        add_indexes(&view, owner, indexes);
        Self::of(view)
    }

    fn of<W: AnyKind>(view: View<W>) -> Self {
        Self {
            informer: view.informer().clone(),
            view: Box::new(view),
        }
    }

    pub(crate) fn informer(&self) -> &Informer {
        &self.informer
    }
}

impl fmt::Debug for AnyView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyView").finish_non_exhaustive()
    }
}

impl Views {
    pub(crate) fn new(
        controller: &str,
        views: HashMap<ViewId, AnyView>,
        owned: HashSet<Resource>,
    ) -> Self {
        Self {
            controller: controller.to_owned(),
            views,
            owned,
        }
    }

    /// Returns the view of a kind, or the error that names the line to add.
    pub(crate) fn view<W: TypedKind>(&self) -> Result<&View<W>, Error> {
        self.find(&ViewId::of::<W>())
            .ok_or_else(|| Error::Unregistered {
                controller: self.controller.clone(),
                kind: W::kind(&()).into_owned(),
                selection: format!("kind::<{}>()", W::kind(&())),
            })
    }

    /// Like [`view`](Self::view), for a kind that is known only at run time.
    pub(crate) fn view_of(&self, resource: &Resource) -> Result<&View<DynamicObject>, Error> {
        self.find(&ViewId::Dynamic(resource.clone()))
            .ok_or_else(|| Error::Unregistered {
                controller: self.controller.clone(),
                kind: resource.qualified_name(),
                selection: "kind_of(..)".to_owned(),
            })
    }

    /// Returns the view of that id, if its objects are of type `W`.
    pub(crate) fn find<W: AnyKind>(&self, id: &ViewId) -> Option<&View<W>> {
        self.views.get(id)?.view.downcast_ref()
    }

    /// Returns the informer that receives writes to a kind: that of the view, or of another view of
    /// the same kind.
    fn informer(&self, id: &ViewId, resource: &Resource) -> Option<&Informer> {
        let exact = self.views.get(id).map(AnyView::informer);
        exact.or_else(|| {
            let mut informers = self.views.values().map(AnyView::informer);
            informers.find(|informer| informer.spec().resource == *resource)
        })
    }

    /// Returns the store of a kind that is read.
    pub(crate) fn store(&self, id: &ViewId, resource: &Resource) -> Option<&Store> {
        self.informer(id, resource).map(Informer::store)
    }

    /// Whether the kind is registered by `owns`.
    pub(crate) fn owns(&self, resource: &Resource) -> bool {
        self.owned.contains(resource)
    }

    /// Whether objects of the kind may exist that the view does not show.
    pub(crate) fn is_partial(&self, id: &ViewId, resource: &Resource) -> bool {
        self.informer(id, resource).is_none_or(|informer| {
            let spec = informer.spec();
            *spec != InformerSpec::all(resource.clone()).with_content(spec.content.clone())
        })
    }

    /// Returns the objects that have the value in an index of the controller, or the error that
    /// names the line to add.
    pub(crate) fn by_index<W: TypedKind>(&self, name: &str, value: &str) -> Result<List<W>, Error> {
        let selection = || format!("kind::<{}>()", W::kind(&()));
        self.indexed(self.view::<W>()?, name, value, selection)
    }

    /// Like [`by_index`](Self::by_index), for a kind that is known only at run time.
    pub(crate) fn by_index_of(
        &self,
        resource: &Resource,
        name: &str,
        value: &str,
    ) -> Result<List<DynamicObject>, Error> {
        let selection = || "kind_of(..)".to_owned();
        self.indexed(self.view_of(resource)?, name, value, selection)
    }

    fn indexed<W: AnyKind>(
        &self,
        view: &View<W>,
        name: &str,
        value: &str,
        selection: impl FnOnce() -> String,
    ) -> Result<List<W>, Error> {
        view.by_index(&index_name(&self.controller, name), value)
            .map_err(|_| Error::Unindexed {
                controller: self.controller.clone(),
                kind: view.informer().spec().resource.kind.kind.clone(),
                name: name.to_owned(),
                selection: selection(),
            })
    }

    /// Returns the objects whose labels match.
    pub(crate) fn matching<W: TypedKind>(&self, labels: &str) -> Result<List<W>, Error> {
        self.labelled(self.view::<W>()?, labels)
    }

    /// Like [`matching`](Self::matching), for a kind that is known only at run time.
    pub(crate) fn matching_of(
        &self,
        resource: &Resource,
        labels: &str,
    ) -> Result<List<DynamicObject>, Error> {
        self.labelled(self.view_of(resource)?, labels)
    }

    fn labelled<W: AnyKind>(&self, view: &View<W>, labels: &str) -> Result<List<W>, Error> {
        let resource = &view.informer().spec().resource;
        let filter = ObjectFilter {
            labels: Some(labels.to_owned()),
            ..ObjectFilter::default()
        };
        let spec = filter.spec(&self.controller, resource)?;
        Ok(view.matching(None, &spec.labels))
    }
}
