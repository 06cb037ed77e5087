//! Builds the controller of the runtime from a registered one.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kubewright_core::{ControllerDescription, PolicyRule, Use, Verb};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{self as runtime, Handle, Mapper, Source};
use kubewright_runtime::informer::Informer;
use serde_json::Value;

use super::builder::Replicas;
use super::finalizer::check_finalizers;
use super::reconciler::Reconciler;
use super::registration::{OwnKind, Registration};
use super::{AnyController, Controller, Environment};
use crate::Error;
use crate::context::ReconcileEnvironment;
use crate::kinds::{AnyKind, AnyView, Cache, UnusedOption, ViewId, Views, passes};

impl<K: AnyKind> Controller<K> {
    /// Returns the views of all kinds that are read, including the controller's own.
    fn views(
        &self,
        own: &Informer,
        environment: &Environment,
    ) -> Result<HashMap<ViewId, AnyView>, Error> {
        let own = AnyView::indexed(&self.name, &self.own.indexes, own.clone());
        let mut views = HashMap::from([(self.own.view.clone(), own)]);
        for registration in &self.uses {
            let Some(view) = &registration.view else {
                continue;
            };
            let spec = view.filter.spec(&self.name, &registration.resource)?;
            let informer = environment
                .informers
                .get(&spec.with_content(view.content.clone()));
            views.insert(view.id.clone(), (view.open)(&self.name, informer));
        }
        Ok(views)
    }

    /// Returns an error if the selection of the controller's own objects is invalid.
    fn check_own(&self) -> Result<(), Error> {
        let kind = &self.resource.kind.kind;
        if self.own.resource != self.resource {
            let unused = UnusedOption {
                option: ".select(..) of another kind",
                registration: "the controller's own",
            };
            return Err(self.unused_option(kind, unused));
        }
        if let Some(unused) = self.own.needless_namespace() {
            return Err(self.unused_option(kind, unused));
        }
        self.own.filter.spec(&self.name, &self.resource).map(drop)
    }

    fn unused_option(&self, kind: &str, unused: UnusedOption) -> Error {
        Error::UnusedOption {
            controller: self.name.clone(),
            kind: kind.to_owned(),
            option: unused.option,
            registration: unused.registration,
        }
    }

    /// Returns the sources of keys: the controller's own objects, registered kinds, and streams.
    fn sources(&mut self, own: &OwnKind<K>, views: &HashMap<ViewId, AnyView>) -> Vec<Source> {
        let predicate = self.own.predicate.take();
        let own_mapper = runtime::own_mapper();
        let mapper: Mapper = Box::new(move |event| {
            if passes(&predicate, event) {
                own_mapper(event)
            } else {
                Vec::new()
            }
        });
        let own_source = Source::new(own.informer.clone(), mapper)
            .priority(self.own.priority)
            .debounce(self.own.debounce);
        let mut sources = vec![own_source];
        for registration in std::mem::take(&mut self.uses) {
            let opened = registration.view.and_then(|view| views.get(&view.id));
            let Some(informer) = opened.map(AnyView::informer).cloned() else {
                continue;
            };
            sources.push(match registration.mapper {
                Some(create_mapper) => {
                    let mapper = create_mapper(own, &informer);
                    Source::new(informer, mapper)
                        .priority(registration.priority)
                        .debounce(registration.debounce)
                }
                None => Source::read(informer),
            });
        }
        for create_source in std::mem::take(&mut self.external) {
            sources.push(create_source(Cache::new(own.view.clone())));
        }
        let store = own.informer.store();
        sources
            .into_iter()
            .map(|source| source.enqueue_all_on_panic(store.clone()))
            .collect()
    }
}

impl<K: AnyKind> AnyController for Controller<K> {
    fn describe(&self) -> ControllerDescription {
        let registered = self
            .uses
            .iter()
            .map(|registration| (registration.resource.clone(), registration.usage.clone()));
        // A finalizer is added and removed by a patch of the object itself.
        let patches = Use::Writes([Verb::Patch].into());
        let own = self
            .finalizers
            .first()
            .map(|_| (self.resource.clone(), patches));
        ControllerDescription {
            name: self.name.clone(),
            resource: self.resource.clone(),
            uses: registered.chain(own).collect(),
        }
    }

    fn definition(&self) -> Option<Value> {
        (self.definition)()
    }

    fn extra_rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn check(&self) -> Result<(), Error> {
        check_finalizers(&self.name, &self.finalizers)?;
        self.check_own()?;
        let mut seen = HashMap::from([(&self.own.view, &self.own.filter)]);
        for registration in &self.uses {
            let kind = &registration.resource.kind.kind;
            if let Some(unused) = registration.unused_option {
                return Err(self.unused_option(kind, unused));
            }
            let Some(view) = &registration.view else {
                continue;
            };
            view.filter.spec(&self.name, &registration.resource)?;
            let previous = seen.insert(&view.id, &view.filter);
            if previous.is_some_and(|filter| *filter != view.filter) {
                return Err(Error::TwoViews {
                    controller: self.name.clone(),
                    kind: kind.clone(),
                });
            }
        }
        Ok(())
    }

    fn build(mut self: Box<Self>, environment: &Environment) -> Result<runtime::Controller, Error> {
        self.check()?;
        let environment = &match self.replicas {
            Replicas::Leader => environment.clone(),
            Replicas::Every => environment.of_every_replica(),
        };
        let own_spec = self.own.filter.spec(&self.name, &self.resource)?;
        let informer = environment
            .informers
            .get(&own_spec.with_content(self.own.content.clone()));
        let own = OwnKind {
            resource: self.resource.clone(),
            view: View::new(informer.clone()),
            informer,
        };
        let is_owned = |registration: &&Registration<K>| registration.usage == Use::Owns;
        let owned: HashSet<_> = self
            .uses
            .iter()
            .filter(is_owned)
            .map(|registration| registration.resource.clone())
            .collect();
        let views = self.views(&own.informer, environment)?;
        let sources = self.sources(&own, &views);
        let handle = Handle::new(self.name.as_str(), self.queue);
        let own_store = own.informer.store().clone();
        let reconciler = Arc::new(Reconciler {
            own: own.view,
            environment: Arc::new(ReconcileEnvironment {
                resource: self.resource,
                own: self.own.view,
                views: Views::new(&self.name, views, owned),
                writer: environment.writer(&self.name),
                informers: environment.informers.clone(),
                client: environment.client.clone(),
                clock: environment.clock.clone(),
                namespaces: environment.namespaces.clone(),
                own_namespace: Arc::clone(&environment.own_namespace),
                events: environment.events.clone(),
                controller: handle.clone(),
            }),
            reconcile: self.reconcile,
            finalizer: self.finalizers.pop(),
            deleted: self.deleted,
        });
        let run: runtime::Reconciler = Arc::new(move |run| Arc::clone(&reconciler).run(run));
        Ok(runtime::Controller::with_handle(handle, run)
            .of_kind(own.resource.kind)
            .sources(sources)
            .workers(self.workers)
            .timeout(self.limit)
            .elected(environment.leadership.clone(), own_store))
    }
}
