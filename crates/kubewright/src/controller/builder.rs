//! [`Controller`]: registers what a controller reconciles, watches, owns, reads and writes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use kube::core::DynamicObject;
use kubewright_core::{ObjectKey, PolicyRule, Resource, Use, Verb};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{self as runtime, Outcome, Source};
use kubewright_runtime::queue::QueueOptions;
use serde_json::Value;

use super::any_controller::AnyController as _;
use super::controller_kind::ControllerKind;
use super::finalizer::Finalizer;
use super::functions::{DeletedFn, ReconcileFn};
use super::registration::{MapperFactory, Registration};
use crate::Result;
use crate::context::Context;
use crate::kinds::{
    AnyKind, Cache, Predicate, Selection, TypedKind, by_mapper, kind, kind_of, passes,
};

/// Creates an external source once the controller's own objects can be looked up.
type SourceFactory<K> = Box<dyn FnOnce(Cache<K>) -> Source + Send>;

/// Reconciles the objects of kind `K`: calls one function for each object that may need work.
///
/// Its registrations also determine the operator's permissions: [`owns`](Self::owns),
/// [`watches`](Self::watches), [`reads`](Self::reads), [`writes`](Self::writes).
pub struct Controller<K: AnyKind> {
    pub(super) name: String,
    pub(super) resource: Resource,
    /// The objects that it reconciles, and the changes of them that trigger it.
    pub(super) own: Selection<K>,
    pub(super) definition: fn() -> Option<Value>,
    pub(super) reconcile: ReconcileFn<K>,
    pub(super) finalizers: Vec<Finalizer<K>>,
    pub(super) deleted: Option<DeletedFn>,
    pub(super) uses: Vec<Registration<K>>,
    pub(super) external: Vec<SourceFactory<K>>,
    pub(super) rules: Vec<PolicyRule>,
    pub(super) workers: usize,
    pub(super) limit: Option<Duration>,
    pub(super) queue: QueueOptions,
    pub(super) replicas: Replicas,
}

/// The copies of the operator that a controller works on, if a leader is elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replicas {
    Leader,
    Every,
}

impl<K: TypedKind> Controller<K> {
    /// Creates a controller that calls `reconcile` for each object of the kind of its first
    /// argument.
    ///
    /// It is called for every object at the start, and whenever a registered object changes, but
    /// never twice at once for one object. It does not learn what changed: it compares the desired
    /// state with the observed state and makes up the difference.
    pub fn new<F, Fut, M>(reconcile: F) -> Self
    where
        K: ControllerKind<M>,
        F: Fn(Arc<K>, Context<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        Self {
            definition: <K as ControllerKind<M>>::definition,
            ..Self::build_for(
                kind::<K>(),
                Arc::new(move |object, cx| Box::pin(reconcile(object, cx))),
            )
        }
    }

    /// Creates a controller with state: `Controller::with(State::new(), State::reconcile)`, where
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
}

impl Controller<DynamicObject> {
    /// Creates a controller for a kind that is known only at run time.
    ///
    /// The operator is not ready until the cluster serves the kind.
    pub fn of<F, Fut>(resource: Resource, reconcile: F) -> Self
    where
        F: Fn(Arc<DynamicObject>, Context<DynamicObject>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        Self::build_for(
            kind_of(resource),
            Arc::new(move |object, cx| Box::pin(reconcile(object, cx))),
        )
    }
}

impl<K: AnyKind> Controller<K> {
    fn build_for(own: Selection<K>, reconcile: ReconcileFn<K>) -> Self {
        Self {
            name: own.resource.kind.kind.to_lowercase(),
            resource: own.resource.clone(),
            own,
            definition: || None,
            reconcile,
            finalizers: Vec::new(),
            deleted: None,
            uses: Vec::new(),
            external: Vec::new(),
            rules: Vec::new(),
            workers: 1,
            limit: None,
            queue: QueueOptions::default(),
            replicas: Replicas::Leader,
        }
    }

    /// Sets the name, by default the lower-case kind. It appears in logs, and as the last part of
    /// the field manager.
    ///
    /// Fields that a controller applied under a previous name stay owned by that name: choose the
    /// name once.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Filters changes of the controller's own objects. Creation and deletion pass unless the
    /// predicate is one of [`only`](super::only).
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.own = self.own.when(predicate);
        self
    }

    /// Restricts the controller to some of its objects, such as
    /// `.select(kind::<Site>().labels("tier=web"))`: others are neither read nor reconciled, and
    /// `cx` does not return them.
    ///
    /// To the controller an object that no longer matches is deleted: it calls
    /// [`on_deleted`](Self::on_deleted), and a [`finalizer`](Self::finalizer) stays until the
    /// object matches again. Select by properties that do not change.
    ///
    /// Indexes, [`priority`](Selection::priority) and [`when`](Selection::when) of the selection
    /// apply too. The last call determines the objects; an event must pass all predicates.
    ///
    /// ```
    /// use kubewright::prelude::*;
    ///
    /// async fn reconcile(_: Arc<Secret>, _: Context<Secret>) -> Result<Outcome> {
    ///     Ok(Outcome::done())
    /// }
    ///
    /// let tls = Controller::new(reconcile).select(kind::<Secret>().fields("type=kubernetes.io/tls"));
    /// ```
    #[must_use]
    pub fn select(mut self, own: Selection<K>) -> Self {
        self.own = match self.own.predicate.take() {
            Some(previous) => own.when(previous),
            None => own,
        };
        self
    }

    /// Registers a kind whose objects the controller's own objects own: a change of one enqueues
    /// its owner, and the controller may create, patch and delete them.
    #[must_use]
    pub fn owns<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
        let predicate = kind.predicate.clone();
        let create_mapper: MapperFactory<K> = Box::new(move |own, _| {
            let mapper = runtime::owner_mapper(own.resource.clone(), own.informer.store().clone());
            Box::new(move |event| {
                if passes(&predicate, event) {
                    mapper(event)
                } else {
                    Vec::new()
                }
            })
        });
        self.uses
            .push(Registration::read(kind, Use::Owns, Some(create_mapper)));
        self
    }

    /// Registers a kind whose changes enqueue the keys that `mapper` returns.
    ///
    /// `mapper` is called with the object before a change and with the object after it; the keys of
    /// both calls are enqueued. An object that does not decode is logged and enqueues all keys, and
    /// so does a panic of the mapper. The mapper must not block. [`enqueue`](super::enqueue) has
    /// the usual mappers.
    #[must_use]
    pub fn watches<W, F, I>(mut self, kind: Selection<W>, mapper: F) -> Self
    where
        W: AnyKind,
        F: Fn(&W, &Cache<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        let predicate = kind.predicate.clone();
        let create_mapper: MapperFactory<K> = Box::new(move |own, informer| {
            let cache = Cache::new(own.view.clone());
            by_mapper(predicate, View::new(informer.clone()), cache, mapper)
        });
        self.uses
            .push(Registration::read(kind, Use::Watches, Some(create_mapper)));
        self
    }

    /// Registers a stream whose items enqueue the keys that `mapper` returns. The mapper must not
    /// block.
    ///
    /// [`sources`](super::sources) has timers and channels; any other stream works too. `name` is
    /// for the log. A stream that panics ends, and enqueues all keys once.
    ///
    /// ```
    /// use kubewright::controller::sources;
    /// use kubewright::prelude::*;
    ///
    /// async fn reconcile(_: Arc<ConfigMap>, _: Context<ConfigMap>) -> Result<Outcome> {
    ///     Ok(Outcome::done())
    /// }
    ///
    /// let hour = Duration::from_secs(3600);
    /// let controller = Controller::new(reconcile)
    ///     .source("hourly", sources::every(hour), enqueue::all());
    /// ```
    #[must_use]
    pub fn source<S, F, I>(mut self, name: impl Into<Arc<str>>, stream: S, mapper: F) -> Self
    where
        S: Stream + Send + 'static,
        F: Fn(&S::Item, &Cache<K>) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = ObjectKey>,
    {
        let name = name.into();
        self.external.push(Box::new(move |own| {
            let keys = stream.map(move |item| mapper(&item, &own).into_iter().collect());
            Source::stream(name, keys)
        }));
        self
    }

    /// Registers a kind that is read, and whose changes enqueue nothing.
    #[must_use]
    pub fn reads<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
        self.uses.push(Registration {
            unused_option: kind.unused_by_reads(),
            ..Registration::read(kind, Use::Reads, None)
        });
        self
    }

    /// Registers a kind whose objects are written with these verbs, and that the controller's own
    /// objects do not own.
    ///
    /// [`Context::apply`] with [`unowned`](crate::context::Apply::unowned) needs [`Verb::Create`]
    /// and [`Verb::Patch`]. Subresources, such as the status, need a rule:
    /// [`grants`](Self::grants).
    #[must_use]
    pub fn writes<W: AnyKind>(
        mut self,
        kind: Selection<W>,
        verbs: impl IntoIterator<Item = Verb>,
    ) -> Self {
        let usage = Use::Writes(verbs.into_iter().collect());
        self.uses.push(Registration {
            view: None,
            unused_option: kind.unused_by_writes(),
            ..Registration::read(kind, usage, None)
        });
        self
    }

    /// Adds a rule to the operator's role, for subresources and for requests of other kinds.
    #[must_use]
    pub fn grants(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Calls `cleanup` before the API server removes a deleted object.
    ///
    /// Each object gets the finalizer before the first call of `reconcile` for it. Once the object
    /// is deleted, `cleanup` is called in place of `reconcile`, and retried after each failure.
    /// When it returns [`Outcome::done`], the finalizer is removed and with it the object. When it
    /// returns [`Outcome::requeue_after`], the object stays and `cleanup` is called again after
    /// that time or when something changes.
    ///
    /// The name is qualified, such as `ex.io/bucket`. A controller has at most one finalizer.
    /// Remove it from the program only once no object has it: such objects could not be deleted any
    /// more.
    #[must_use]
    pub fn finalizer<F, Fut>(mut self, name: impl Into<String>, cleanup: F) -> Self
    where
        F: Fn(Arc<K>, Context<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        self.finalizers.push(Finalizer {
            name: name.into(),
            cleanup: Arc::new(move |object, cx| Box::pin(cleanup(object, cx))),
        });
        self
    }

    /// Calls the function for the key of an object that no longer exists, to release what the
    /// controller holds in memory for it.
    ///
    /// It may be called more than once, and is not called for objects that were deleted while the
    /// operator was down: anything outside the process needs a [`finalizer`](Self::finalizer).
    #[must_use]
    pub fn on_deleted<F, Fut>(mut self, deleted: F) -> Self
    where
        F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.deleted = Some(Arc::new(move |key| Box::pin(deleted(key))));
        self
    }

    /// Permits the controller to record events with [`Context::event`].
    #[must_use]
    pub fn events(self) -> Self {
        self.grants(PolicyRule {
            api_groups: vec!["events.k8s.io".to_owned()],
            resources: vec!["events".to_owned()],
            verbs: vec!["create".to_owned(), "patch".to_owned()],
            ..PolicyRule::default()
        })
    }

    /// Runs the controller on every copy of the operator, not only on the leader: for controllers
    /// that fill a cache of their own process, and write nothing that another copy writes too.
    #[must_use]
    pub fn on_every_replica(mut self) -> Self {
        self.replicas = Replicas::Every;
        self
    }

    /// Sets how many objects are reconciled at once; the default is 1.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Sets the timeout of a run. A run that takes longer is stopped, counts as failed and is
    /// retried. By default a run has no timeout.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the options of the work queue: backoff, limits, aging, fairness between namespaces.
    #[must_use]
    pub fn queue(mut self, options: QueueOptions) -> Self {
        self.queue = options;
        self
    }
}

impl<K: AnyKind> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("description", &self.describe())
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
