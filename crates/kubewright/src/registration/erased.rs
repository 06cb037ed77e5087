use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;

use kube::Client;
use kubewright_core::{Clock, ControllerDescription, LabelSelector, PolicyRule};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller as runtime;
use kubewright_runtime::informer::{Informer, Informers};
use kubewright_runtime::store::Store;
use kubewright_runtime::write::Writer;
use serde_json::Value;

use super::TypedKind;
use super::typed::kind_name;
use crate::Error;

/// What all controllers of one running operator share.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) informers: Informers,
    pub(crate) client: Client,
    pub(crate) writer: Writer,
    pub(crate) clock: Clock,
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
    views: HashMap<TypeId, AnyView>,
    /// Those of them that are registered by `owns`.
    owned: HashSet<TypeId>,
}

/// A view whose kind is known to those who ask for it.
pub(crate) struct AnyView {
    informer: Informer,
    view: Box<dyn Any + Send + Sync>,
}

impl AnyView {
    pub(crate) fn open<W: TypedKind>(informer: Informer) -> Self {
        Self {
            view: Box::new(View::<W>::new(informer.clone())),
            informer,
        }
    }

    pub(super) fn informer(&self) -> &Informer {
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
        views: HashMap<TypeId, AnyView>,
        owned: HashSet<TypeId>,
    ) -> Self {
        Self {
            controller: controller.to_owned(),
            views,
            owned,
        }
    }

    /// The view of a kind, or the line to add.
    pub(crate) fn view<W: TypedKind>(&self) -> Result<&View<W>, Error> {
        self.views
            .get(&TypeId::of::<W>())
            .and_then(|any| any.view.downcast_ref())
            .ok_or_else(|| Error::Unregistered {
                controller: self.controller.clone(),
                kind: kind_name::<W>(),
            })
    }

    /// The store of a kind that is read.
    pub(crate) fn store<W: TypedKind>(&self) -> Option<&Store> {
        let any = self.views.get(&TypeId::of::<W>())?;
        Some(any.informer.store())
    }

    /// Whether the kind is registered by `owns`.
    pub(crate) fn owns<W: TypedKind>(&self) -> bool {
        self.owned.contains(&TypeId::of::<W>())
    }

    /// Whether there may be objects of the kind that the view does not show.
    pub(crate) fn is_partial<W: TypedKind>(&self) -> bool {
        let any = self.views.get(&TypeId::of::<W>());
        any.is_none_or(|any| any.informer.spec().labels != LabelSelector::default())
    }
}
