use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use kubewright_core::{
    ControllerDescription, LabelSelector, ObjectKey, PolicyRule, Resource, Use, Verb,
};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{self as runtime, Mapper, Outcome, Source};
use kubewright_runtime::informer::{Informer, InformerSpec};
use serde_json::Value;

use super::erased::{AnyView, Parts, Registered, Views};
use super::typed::kind_name;
use super::wake::{by_mapper, passes};
use super::{Cache, ControllerKind, Selection, TypedKind, resource_of};
use crate::context::{Context, Shared};
use crate::{Error, Result};

type Reconcile<K> =
    Arc<dyn Fn(Arc<K>, Context<K>) -> BoxFuture<'static, Result<Outcome>> + Send + Sync>;

/// Keeps the world as objects of kind `K` say, by calling one function for each that may need it.
///
/// What it registers is what it may do: [`owns`](Self::owns), [`watches`](Self::watches),
/// [`reads`](Self::reads), [`writes`](Self::writes).
pub struct Controller<K: TypedKind> {
    name: String,
    definition: fn() -> Option<Value>,
    reconcile: Reconcile<K>,
    uses: Vec<Registration<K>>,
    rules: Vec<PolicyRule>,
    workers: usize,
}

/// One kind that the controller uses.
struct Registration<K: TypedKind> {
    kind: String,
    resource: Resource,
    usage: Use,
    view: Option<Viewed>,
    wake: Option<Wake<K>>,
    /// An option of the selection that this registration has no use for.
    pointless: Option<(&'static str, &'static str)>,
}

/// What is needed to read a kind.
#[derive(Clone)]
struct Viewed {
    kind: TypeId,
    labels: Option<String>,
    open: fn(Informer) -> AnyView,
}

/// Makes the mapper once the controller's own objects, and those that wake it, can be looked up.
type Wake<K> = Box<dyn FnOnce(&Own<K>, &Informer) -> Mapper + Send>;

/// The controller's own kind, as mappers see it.
struct Own<K> {
    resource: Resource,
    informer: Informer,
    view: View<K>,
}

impl<K: TypedKind> Controller<K> {
    /// The controller that calls `reconcile` for each object of the kind that its first argument
    /// names.
    ///
    /// It is called for every object at the start and whenever something that is registered
    /// changes, never twice at once for one object. It is not told what changed: it looks at the
    /// world and does what is missing.
    pub fn new<F, Fut, M>(reconcile: F) -> Self
    where
        K: ControllerKind<M>,
        F: Fn(Arc<K>, Context<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        Self {
            name: kind_name::<K>().to_lowercase(),
            definition: <K as ControllerKind<M>>::definition,
            reconcile: Arc::new(move |object, cx| Box::pin(reconcile(object, cx))),
            uses: Vec::new(),
            rules: Vec::new(),
            workers: 1,
        }
    }

    /// The same with state of its own: `Controller::with(State::new(), State::reconcile)`, where
    /// `async fn reconcile(self: Arc<Self>, object: Arc<K>, cx: Context<K>) -> Result<Outcome>`.
    pub fn with<S, F, Fut, M>(state: impl Into<Arc<S>>, reconcile: F) -> Self
    where
        K: ControllerKind<M>,
        S: Send + Sync + 'static,
        F: Fn(Arc<S>, Arc<K>, Context<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        let state = state.into();
        Self::new(move |object, cx| reconcile(Arc::clone(&state), object, cx))
    }

    /// Another name than the lower-case kind, for logs.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Makes objects of this kind that belong to its own: a change of one wakes its owner, and the
    /// controller may create, patch and delete them.
    #[must_use]
    pub fn owns<W: TypedKind>(mut self, kind: Selection<W>) -> Self {
        let predicate = kind.predicate.clone();
        let wake: Wake<K> = Box::new(move |own, _| {
            let mapper = runtime::owner_mapper(own.resource.clone(), own.informer.store().clone());
            Box::new(move |event| match passes(&predicate, event) {
                true => mapper(event),
                false => Vec::new(),
            })
        });
        self.uses
            .push(Registration::read(kind, Use::Owns, Some(wake)));
        self
    }

    /// Is woken by changes of this kind; `mapper` names the objects to look at again.
    ///
    /// It is called with the object before and with the object after a change, and both answers
    /// count. An object that does not decode is logged and wakes all. It must not block. [`enqueue`](super::enqueue) has the usual ones.
    #[must_use]
    pub fn watches<W, F, I>(mut self, kind: Selection<W>, mapper: F) -> Self
    where
        W: TypedKind,
        F: Fn(&W, &Cache<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        let predicate = kind.predicate.clone();
        let wake: Wake<K> = Box::new(move |own, informer| {
            let cache = Cache::new(own.view.clone());
            by_mapper(predicate, View::new(informer.clone()), cache, mapper)
        });
        self.uses
            .push(Registration::read(kind, Use::Watches, Some(wake)));
        self
    }

    /// Reads this kind without being woken by it.
    #[must_use]
    pub fn reads<W: TypedKind>(mut self, kind: Selection<W>) -> Self {
        let pointless = kind.predicate.is_some();
        self.uses.push(Registration {
            pointless: pointless.then_some((".when(..)", ".reads(..), which wakes nobody")),
            ..Registration::read(kind, Use::Reads, None)
        });
        self
    }

    /// Writes objects of this kind that belong to nobody or to others, with these verbs.
    ///
    /// [`Context::apply`] with [`unowned`](crate::Apply::unowned) needs [`Verb::Create`] and
    /// [`Verb::Patch`].
    #[must_use]
    pub fn writes<W: TypedKind>(
        mut self,
        kind: Selection<W>,
        verbs: impl IntoIterator<Item = Verb>,
    ) -> Self {
        let usage = Use::Writes(verbs.into_iter().collect());
        let pointless = kind.predicate.is_some() || kind.labels.is_some();
        self.uses.push(Registration {
            view: None,
            pointless: pointless.then_some(("a selection", ".writes(..), which reads nothing")),
            ..Registration::read(kind, usage, None)
        });
        self
    }

    /// May do what the rule says; for subresources and what has no type here.
    #[must_use]
    pub fn may(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// How many objects are worked on at once; 1 unless said otherwise.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    fn own_view() -> Viewed {
        Viewed {
            kind: TypeId::of::<K>(),
            labels: None,
            open: AnyView::open::<K>,
        }
    }

    fn selector(&self, kind: &str, labels: Option<&str>) -> Result<LabelSelector, Error> {
        let text = labels.unwrap_or_default();
        text.parse().map_err(|source| Error::Selector {
            controller: self.name.clone(),
            kind: kind.to_owned(),
            text: text.to_owned(),
            source,
        })
    }
}

impl<K: TypedKind> Registration<K> {
    fn read<W: TypedKind>(selection: Selection<W>, usage: Use, wake: Option<Wake<K>>) -> Self {
        Self {
            kind: kind_name::<W>(),
            resource: resource_of::<W>(),
            usage,
            view: Some(Viewed {
                kind: TypeId::of::<W>(),
                labels: selection.labels,
                open: AnyView::open::<W>,
            }),
            wake,
            pointless: None,
        }
    }
}

impl<K: TypedKind> Registered for Controller<K> {
    fn describe(&self) -> ControllerDescription {
        ControllerDescription {
            name: self.name.clone(),
            resource: resource_of::<K>(),
            uses: self
                .uses
                .iter()
                .map(|one| (one.resource.clone(), one.usage.clone()))
                .collect(),
        }
    }

    fn definition(&self) -> Option<Value> {
        (self.definition)()
    }

    fn extra_rules(&self) -> &[PolicyRule] {
        &self.rules
    }

    fn check(&self) -> Result<(), Error> {
        let mut seen = HashMap::from([(TypeId::of::<K>(), None)]);
        for one in &self.uses {
            if let Some((option, registration)) = one.pointless {
                return Err(Error::Pointless {
                    controller: self.name.clone(),
                    kind: one.kind.clone(),
                    option,
                    registration,
                });
            }
            let Some(view) = &one.view else { continue };
            self.selector(&one.kind, view.labels.as_deref())?;
            let former = seen.insert(view.kind, view.labels.as_deref());
            if former.is_some_and(|labels| labels != view.labels.as_deref()) {
                return Err(Error::TwoViews {
                    controller: self.name.clone(),
                    kind: one.kind.clone(),
                });
            }
        }
        Ok(())
    }

    fn build(self: Box<Self>, parts: &Parts) -> Result<runtime::Controller, Error> {
        self.check()?;
        let resource = resource_of::<K>();
        let informer = parts
            .informers
            .get(&spec(&resource, LabelSelector::default()));
        let own = Own {
            resource: resource.clone(),
            informer: informer.clone(),
            view: View::new(informer.clone()),
        };
        let own_view = Self::own_view();
        let mut views = HashMap::from([(own_view.kind, (own_view.open)(informer.clone()))]);
        let is_owned = |one: &&Registration<K>| one.usage == Use::Owns;
        let owned = self.uses.iter().filter(is_owned);
        let owned = owned.filter_map(|one| Some(one.view.as_ref()?.kind));
        let owned = owned.collect();
        let mut sources = vec![Source::new(informer, runtime::own_mapper())];
        let name = self.name.clone();
        let reconcile = Arc::clone(&self.reconcile);
        let workers = self.workers;
        for one in &self.uses {
            let Some(view) = &one.view else { continue };
            let labels = self.selector(&one.kind, view.labels.as_deref())?;
            let informer = parts.informers.get(&spec(&one.resource, labels));
            views.insert(view.kind, (view.open)(informer));
        }
        for one in self.uses {
            let (Some(view), Some(wake)) = (one.view, one.wake) else {
                continue;
            };
            let Some(opened) = views.get(&view.kind) else {
                continue;
            };
            let informer = opened.informer().clone();
            let mapper = wake(&own, &informer);
            sources.push(Source::new(informer, mapper));
        }
        let shared = Arc::new(Shared {
            resource,
            views: Views::new(&name, views, owned),
            writer: parts.writer.clone(),
            client: parts.client.clone(),
            clock: parts.clock.clone(),
        });
        Ok(
            runtime::Controller::new(name, reconciler(own.view, shared, reconcile))
                .sources(sources)
                .workers(workers),
        )
    }
}

fn spec(resource: &Resource, labels: LabelSelector) -> InformerSpec {
    InformerSpec {
        labels,
        ..InformerSpec::all(resource.clone())
    }
}

/// Looks the object up and calls the user's function; an object that is gone needs nothing.
fn reconciler<K: TypedKind>(
    own: View<K>,
    shared: Arc<Shared>,
    reconcile: Reconcile<K>,
) -> runtime::Reconciler {
    Arc::new(move |key| {
        let shared = Arc::clone(&shared);
        match own.get(&key) {
            Ok(Some(object)) => {
                let cx = Context::new(shared, key, Arc::clone(&object));
                reconcile(object, cx)
            }
            Ok(None) => Box::pin(async { Ok(Outcome::done()) }),
            Err(error) => Box::pin(async { Err(error.into()) }),
        }
    })
}

impl<K: TypedKind> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("description", &self.describe())
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
