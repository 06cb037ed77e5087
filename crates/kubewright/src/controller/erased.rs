use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use kube::Client;
use kube::core::DynamicObject;
use kubewright_core::{Clock, ControllerDescription, PolicyRule, Resource};
use kubewright_runtime::NamespaceSet;
use kubewright_runtime::cache::{List, View};
use kubewright_runtime::controller as runtime;
use kubewright_runtime::election::Leadership;
use kubewright_runtime::events::EventRecorder;
use kubewright_runtime::informer::{Informer, InformerSpec, Informers};
use kubewright_runtime::store::Store;
use kubewright_runtime::write::Writer;
use serde_json::Value;

use super::extent::Extent;
use super::indexes::{Wanted, add_indexes, index_name};
use super::typed::ViewId;
use super::{AnyKind, TypedKind};
use crate::Error;

/// What all controllers of one running operator share.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) informers: Informers,
    /// What the leader writes with.
    pub(crate) client: Client,
    /// What every copy of the operator may write with.
    pub(crate) unfenced: Client,
    pub(crate) leadership: Leadership,
    /// Whose name the field managers of the controllers begin with.
    pub(crate) manager: String,
    pub(crate) clock: Clock,
    /// What the operator is restricted to.
    pub(crate) namespaces: Option<NamespaceSet>,
    /// Where the operator itself runs.
    pub(crate) own_namespace: Arc<str>,
    pub(crate) events: EventRecorder,
}

impl Parts {
    /// Writes in the name of one controller, so that two of them never take each other's fields
    /// away.
    pub(crate) fn writer(&self, controller: &str) -> Writer {
        let manager = format!("{}/{controller}", self.manager);
        Writer::new(self.client.clone(), &manager)
    }

    /// The same for what works on every copy of the operator.
    pub(crate) fn everywhere(&self) -> Self {
        Self {
            client: self.unfenced.clone(),
            leadership: Leadership::without_election(),
            ..self.clone()
        }
    }
}

/// A controller of some kind, as the operator keeps it.
pub(crate) trait Registered: Send {
    /// Its part of the description.
    fn describe(&self) -> ControllerDescription;

    /// The definition of its kind, when it is a custom resource.
    fn definition(&self) -> Option<Value>;

    /// What it may do beside what follows from its registrations.
    fn extra_rules(&self) -> &[PolicyRule];

    /// Refuses what cannot be run.
    fn check(&self) -> Result<(), Error>;

    /// The controller, ready to run.
    fn build(self: Box<Self>, parts: &Parts) -> Result<runtime::Controller, Error>;
}

/// The kinds that one controller reads, each with its one view.
#[derive(Debug)]
pub(crate) struct Views {
    controller: String,
    views: HashMap<ViewId, AnyView>,
    /// The kinds that are registered by `owns`, in whatever form they are read.
    owned: HashSet<Resource>,
}

/// A view whose kind is known to those who ask for it.
pub(crate) struct AnyView {
    informer: Informer,
    view: Box<dyn Any + Send + Sync>,
}

impl AnyView {
    /// One with the indexes of the controller or webhook of that name.
    pub(crate) fn indexed<W: AnyKind>(
        owner: &str,
        indexes: &[Wanted<W>],
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

    /// The view of a kind, or the line to add.
    pub(crate) fn view<W: TypedKind>(&self) -> Result<&View<W>, Error> {
        self.find(&ViewId::of::<W>())
            .ok_or_else(|| Error::Unregistered {
                controller: self.controller.clone(),
                kind: W::kind(&()).into_owned(),
                selection: format!("kind::<{}>()", W::kind(&())),
            })
    }

    /// The view of a kind that is known only at run time, or the line to add.
    pub(crate) fn view_of(&self, resource: &Resource) -> Result<&View<DynamicObject>, Error> {
        self.find(&ViewId::Dynamic(resource.clone()))
            .ok_or_else(|| Error::Unregistered {
                controller: self.controller.clone(),
                kind: resource.qualified_name(),
                selection: "kind_of(..)".to_owned(),
            })
    }

    /// The view of that name, when its objects are of the type `W`.
    pub(crate) fn find<W: AnyKind>(&self, id: &ViewId) -> Option<&View<W>> {
        self.views.get(id)?.view.downcast_ref()
    }

    /// The informer that learns of writes to a kind: that of the view, or of another view of the
    /// same kind.
    fn informer(&self, id: &ViewId, resource: &Resource) -> Option<&Informer> {
        let exact = self.views.get(id).map(AnyView::informer);
        exact.or_else(|| {
            let mut informers = self.views.values().map(AnyView::informer);
            informers.find(|one| one.spec().resource == *resource)
        })
    }

    /// The store of a kind that is read.
    pub(crate) fn store(&self, id: &ViewId, resource: &Resource) -> Option<&Store> {
        self.informer(id, resource).map(Informer::store)
    }

    /// Whether the kind is registered by `owns`.
    pub(crate) fn owns(&self, resource: &Resource) -> bool {
        self.owned.contains(resource)
    }

    /// Whether there may be objects of the kind that the view does not show.
    pub(crate) fn is_partial(&self, id: &ViewId, resource: &Resource) -> bool {
        let informer = self.informer(id, resource);
        informer.is_none_or(|one| {
            let everything = InformerSpec::all(resource.clone());
            *one.spec() != everything.with_content(one.spec().content.clone())
        })
    }

    /// The objects that have the value in an index of the controller, or the line to add.
    pub(crate) fn by_index<W: TypedKind>(&self, name: &str, value: &str) -> Result<List<W>, Error> {
        let selection = || format!("kind::<{}>()", W::kind(&()));
        self.indexed(self.view::<W>()?, name, value, selection)
    }

    /// The same of a kind that is known only at run time.
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
        let found = view.by_index(&index_name(&self.controller, name), value);
        found.map_err(|_| Error::Unindexed {
            controller: self.controller.clone(),
            kind: view.informer().spec().resource.kind.kind.clone(),
            name: name.to_owned(),
            selection: selection(),
        })
    }

    /// The objects whose labels match.
    pub(crate) fn matching<W: TypedKind>(&self, labels: &str) -> Result<List<W>, Error> {
        self.labelled(self.view::<W>()?, labels)
    }

    /// The same of a kind that is known only at run time.
    pub(crate) fn matching_of(
        &self,
        resource: &Resource,
        labels: &str,
    ) -> Result<List<DynamicObject>, Error> {
        self.labelled(self.view_of(resource)?, labels)
    }

    fn labelled<W: AnyKind>(&self, view: &View<W>, labels: &str) -> Result<List<W>, Error> {
        let resource = &view.informer().spec().resource;
        let extent = Extent {
            labels: Some(labels.to_owned()),
            ..Extent::default()
        };
        let wanted = extent.spec(&self.controller, resource)?;
        Ok(view.matching(None, &wanted.labels))
    }
}
