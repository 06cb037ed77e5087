use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::{ControllerDescription, PolicyRule, Resource, Use, Verb};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{self as runtime, Handle, Mapper, Source};
use kubewright_runtime::informer::{Content, Informer};
use kubewright_runtime::queue::Priority;
use serde_json::Value;

use super::builder::Replicas;
use super::erased::{AnyView, Parts, Registered, Views};
use super::extent::Extent;
use super::reconciler::Reconciling;
use super::selection::UnusedOption;
use super::typed::ViewId;
use super::wake::passes;
use super::{AnyKind, Cache, Controller, Selection};
use crate::Error;
use crate::context::Shared;

/// One kind that the controller uses.
pub(super) struct Registration<K: AnyKind> {
    pub(super) resource: Resource,
    pub(super) usage: Use,
    pub(super) view: Option<Viewed>,
    pub(super) wake: Option<Wake<K>>,
    pub(super) priority: Priority,
    pub(super) debounce: Duration,
    /// An option of the selection that this registration has no use for.
    pub(super) unused_option: Option<UnusedOption>,
}

/// What is needed to read a kind.
#[derive(Clone)]
pub(super) struct Viewed {
    id: ViewId,
    content: Content,
    extent: Extent,
    open: Open,
}

/// Opens a view of an informer's objects, with the indexes of the controller of that name.
type Open = Arc<dyn Fn(&str, Informer) -> AnyView + Send + Sync>;

/// Makes the mapper once the controller's own objects, and those that wake it, can be looked up.
pub(super) type Wake<K> = Box<dyn FnOnce(&Own<K>, &Informer) -> Mapper + Send>;

/// The controller's own kind, as mappers see it.
pub(super) struct Own<K> {
    pub(super) resource: Resource,
    pub(super) informer: Informer,
    pub(super) view: View<K>,
}

impl<K: AnyKind> Registration<K> {
    pub(super) fn read<W: AnyKind>(
        selection: Selection<W>,
        usage: Use,
        wake: Option<Wake<K>>,
    ) -> Self {
        let unused_option = selection.misplaced();
        let indexes = selection.indexes;
        Self {
            resource: selection.resource,
            usage,
            view: Some(Viewed {
                id: selection.view,
                content: selection.content,
                extent: selection.extent,
                open: Arc::new(move |controller, informer| {
                    AnyView::indexed(controller, &indexes, informer)
                }),
            }),
            wake,
            priority: selection.priority,
            debounce: selection.debounce,
            unused_option,
        }
    }
}

impl<K: AnyKind> Controller<K> {
    /// The views of all kinds that are read, the controller's own included.
    fn views(&self, own: &Informer, parts: &Parts) -> Result<HashMap<ViewId, AnyView>, Error> {
        let own = AnyView::indexed(&self.name, &self.own.indexes, own.clone());
        let mut views = HashMap::from([(self.own.view.clone(), own)]);
        for one in &self.uses {
            let Some(view) = &one.view else { continue };
            let spec = view.extent.spec(&self.name, &one.resource)?;
            let informer = parts.informers.get(&spec.with_content(view.content.clone()));
            views.insert(view.id.clone(), (view.open)(&self.name, informer));
        }
        Ok(views)
    }

    /// Refuses a selection of its own objects that is none.
    fn check_own(&self) -> Result<(), Error> {
        let kind = &self.resource.kind.kind;
        if self.own.resource != self.resource {
            let unused_option = (".select(..) of another kind", "the controller's own");
            return Err(self.unused_option(kind, unused_option));
        }
        if let Some(unused_option) = self.own.misplaced() {
            return Err(self.unused_option(kind, unused_option));
        }
        self.own.extent.spec(&self.name, &self.resource).map(drop)
    }

    fn unused_option(&self, kind: &str, (option, registration): UnusedOption) -> Error {
        Error::UnusedOption {
            controller: self.name.clone(),
            kind: kind.to_owned(),
            option,
            registration,
        }
    }

    /// Its own objects, and everything else that wakes it.
    fn sources(&mut self, own: &Own<K>, views: &HashMap<ViewId, AnyView>) -> Vec<Source> {
        let predicate = self.own.predicate.take();
        let own_mapper = runtime::own_mapper();
        let mapper: Mapper = Box::new(move |event| match passes(&predicate, event) {
            true => own_mapper(event),
            false => Vec::new(),
        });
        let first = Source::new(own.informer.clone(), mapper);
        let mut sources = vec![first.priority(self.own.priority)];
        for one in std::mem::take(&mut self.uses) {
            let opened = one.view.and_then(|view| views.get(&view.id));
            let Some(informer) = opened.map(AnyView::informer).cloned() else {
                continue;
            };
            sources.push(match one.wake {
                Some(wake) => {
                    let mapper = wake(own, &informer);
                    Source::new(informer, mapper)
                        .priority(one.priority)
                        .debounce(one.debounce)
                }
                None => Source::read(informer),
            });
        }
        for make in std::mem::take(&mut self.external) {
            sources.push(make(Cache::new(own.view.clone())));
        }
        let own = own.informer.store();
        let sources = sources.into_iter();
        sources.map(|one| one.enqueue_all_on_panic(own.clone())).collect()
    }
}

impl<K: AnyKind> Registered for Controller<K> {
    fn describe(&self) -> ControllerDescription {
        let uses = self.uses.iter();
        let uses = uses.map(|one| (one.resource.clone(), one.usage.clone()));
        // A finalizer is added and removed by a patch of the object itself.
        let patches = Use::Writes([Verb::Patch].into());
        let own = self.finalizers.first();
        let own = own.map(|_| (self.resource.clone(), patches));
        ControllerDescription {
            name: self.name.clone(),
            resource: self.resource.clone(),
            uses: uses.chain(own).collect(),
        }
    }

    fn definition(&self) -> Option<Value> {
        (self.definition)()
    }

    fn extra_rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn check(&self) -> Result<(), Error> {
        self.check_finalizers()?;
        self.check_own()?;
        let mut seen = HashMap::from([(&self.own.view, &self.own.extent)]);
        for one in &self.uses {
            let kind = &one.resource.kind.kind;
            if let Some(unused_option) = one.unused_option {
                return Err(self.unused_option(kind, unused_option));
            }
            let Some(view) = &one.view else { continue };
            view.extent.spec(&self.name, &one.resource)?;
            let former = seen.insert(&view.id, &view.extent);
            if former.is_some_and(|extent| *extent != view.extent) {
                return Err(Error::TwoViews {
                    controller: self.name.clone(),
                    kind: kind.clone(),
                });
            }
        }
        Ok(())
    }

    fn build(mut self: Box<Self>, parts: &Parts) -> Result<runtime::Controller, Error> {
        self.check()?;
        let everywhere = parts.everywhere();
        let parts = match self.replicas {
            Replicas::Leader => parts,
            Replicas::Every => &everywhere,
        };
        let own_spec = self.own.extent.spec(&self.name, &self.resource)?;
        let own_spec = own_spec.with_content(self.own.content.clone());
        let informer = parts.informers.get(&own_spec);
        let own = Own {
            resource: self.resource.clone(),
            view: View::new(informer.clone()),
            informer,
        };
        let is_owned = |one: &&Registration<K>| one.usage == Use::Owns;
        let owned = self.uses.iter().filter(is_owned);
        let owned: HashSet<_> = owned.map(|one| one.resource.clone()).collect();
        let views = self.views(&own.informer, parts)?;
        let sources = self.sources(&own, &views);
        let handle = Handle::new(self.name.as_str(), self.queue);
        let shared = Arc::new(Shared {
            resource: self.resource,
            own: self.own.view,
            views: Views::new(&self.name, views, owned),
            writer: parts.writer(&self.name),
            informers: parts.informers.clone(),
            client: parts.client.clone(),
            clock: parts.clock.clone(),
            namespaces: parts.namespaces.clone(),
            own_namespace: Arc::clone(&parts.own_namespace),
            events: parts.events.clone(),
            controller: handle.clone(),
        });
        let own_store = own.informer.store().clone();
        let reconciling = Arc::new(Reconciling {
            own: own.view,
            shared,
            reconcile: self.reconcile,
            finalizer: self.finalizers.pop(),
            deleted: self.deleted,
        });
        let reconciler: runtime::Reconciler =
            Arc::new(move |run| Arc::clone(&reconciling).reconcile(run));
        Ok(runtime::Controller::with_handle(handle, reconciler)
            .of_kind(own.resource.kind)
            .sources(sources)
            .workers(self.workers)
            .timeout(self.limit)
            .elected(parts.leadership.clone(), own_store))
    }
}
