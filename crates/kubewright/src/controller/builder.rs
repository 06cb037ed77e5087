use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt as _};
use kube::core::DynamicObject;
use kubewright_core::{ObjectKey, PolicyRule, Resource, Use, Verb};
use kubewright_runtime::cache::View;
use kubewright_runtime::controller::{self as runtime, Outcome, Source};
use kubewright_runtime::queue::{Priority, QueueOptions};
use serde_json::Value;

use super::build::{Registration, Wake};
use super::erased::Registered as _;
use super::finalizer::Finalizer;
use super::reconciler::Deleted;
use super::selection::{kind, kind_of};
use super::wake::{by_mapper, passes};
use super::{AnyKind, Cache, ControllerKind, Predicate, Selection, TypedKind};
use crate::Result;
use crate::context::Context;

pub(super) type Reconcile<K> =
    Arc<dyn Fn(Arc<K>, Context<K>) -> BoxFuture<'static, Result<Outcome>> + Send + Sync>;

/// Makes an external source once the controller's own objects can be looked up.
type External<K> = Box<dyn FnOnce(Cache<K>) -> Source + Send>;

/// Keeps the world as objects of kind `K` say, by calling one function for each that may need it.
///
/// What it registers is what it may do: [`owns`](Self::owns), [`watches`](Self::watches),
/// [`reads`](Self::reads), [`writes`](Self::writes).
pub struct Controller<K: AnyKind> {
    pub(super) name: String,
    pub(super) resource: Resource,
    /// Which of its objects, and which changes of them, it is for.
    pub(super) own: Selection<K>,
    pub(super) definition: fn() -> Option<Value>,
    pub(super) reconcile: Reconcile<K>,
    pub(super) finalizers: Vec<Finalizer<K>>,
    pub(super) deleted: Option<Deleted>,
    pub(super) uses: Vec<Registration<K>>,
    pub(super) external: Vec<External<K>>,
    pub(super) rules: Vec<PolicyRule>,
    pub(super) workers: usize,
    pub(super) limit: Option<Duration>,
    pub(super) queue: QueueOptions,
    pub(super) replicas: Replicas,
}

/// Which copies of the operator a controller works on, where a leader is elected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replicas {
    Leader,
    Every,
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
            definition: <K as ControllerKind<M>>::definition,
            ..Self::build_for(
                kind::<K>(),
                Arc::new(move |object, cx| Box::pin(reconcile(object, cx))),
            )
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
}

impl Controller<DynamicObject> {
    /// The controller for a kind that is known only when the program runs.
    ///
    /// The kind must be served when the operator starts, or be served some time later: until then
    /// the operator is not ready.
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
    fn build_for(own: Selection<K>, reconcile: Reconcile<K>) -> Self {
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

    /// Another name than the lower-case kind, for logs and as the last part of the field manager.
    ///
    /// What a controller has applied stays applied under its former name: choose it once.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Is called only for changes of its own objects that matter; creation and deletion always do.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<K>) -> Self {
        self.own = self.own.when(predicate);
        self
    }

    /// Is for these of its objects alone, as `.select(kind::<Site>().labels("tier=web"))`: others
    /// are neither read nor reconciled, and `cx` does not show them either.
    ///
    /// For the controller an object that no longer matches is gone. Then
    /// [`on_deleted`](Self::on_deleted) is called, and a [`finalizer`](Self::finalizer) stays
    /// where it is until the object matches again: select by what objects keep for life.
    ///
    /// Indexes, [`priority`](Selection::priority) and [`when`](Selection::when) of the selection
    /// count as well. The last call says which objects; all predicates have to agree.
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
            Some(former) => own.when(former),
            None => own,
        };
        self
    }

    /// Makes objects of this kind that belong to its own: a change of one wakes its owner, and the
    /// controller may create, patch and delete them.
    #[must_use]
    pub fn owns<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
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
    /// count. An object that does not decode is logged and wakes all, and so does a mapper that
    /// panics. It must not block. [`enqueue`](super::enqueue) has the usual ones.
    #[must_use]
    pub fn watches<W, F, I>(mut self, kind: Selection<W>, mapper: F) -> Self
    where
        W: AnyKind,
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

    /// Is woken by what comes from elsewhere; `mapper` names the objects to look at again for each
    /// item of the stream. It must not block.
    ///
    /// [`sources`](super::sources) has timers and channels; any other stream will do. `name` is
    /// for the log. A stream that panics ends, and wakes all once more.
    ///
    /// ```
    /// use kubewright::prelude::*;
    /// use kubewright::controller::sources;
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

    /// Reads this kind without being woken by it.
    #[must_use]
    pub fn reads<W: AnyKind>(mut self, kind: Selection<W>) -> Self {
        self.uses.push(Registration {
            unused_option: kind.unused_by_a_reader(),
            ..Registration::read(kind, Use::Reads, None)
        });
        self
    }

    /// Writes objects of this kind that belong to nobody or to others, with these verbs.
    ///
    /// [`Context::apply`] with [`unowned`](crate::context::Apply::unowned) needs [`Verb::Create`] and
    /// [`Verb::Patch`]. Subresources, such as the status, need a rule of their own:
    /// [`may`](Self::may).
    #[must_use]
    pub fn writes<W: AnyKind>(
        mut self,
        kind: Selection<W>,
        verbs: impl IntoIterator<Item = Verb>,
    ) -> Self {
        let usage = Use::Writes(verbs.into_iter().collect());
        let unused_option = kind.predicate.is_some()
            || !kind.extent.is_everything()
            || !kind.indexes.is_empty()
            || kind.priority != Priority::NORMAL
            || !kind.debounce.is_zero();
        self.uses.push(Registration {
            view: None,
            unused_option: unused_option
                .then_some(("a selection", ".writes(..), which reads nothing")),
            ..Registration::read(kind, usage, None)
        });
        self
    }

    /// May do what the rule says; for subresources and what has no type here.
    #[must_use]
    pub fn grants(mut self, rule: PolicyRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Cleans up before an object may go.
    ///
    /// Each object gets the finalizer before `reconcile` is called for it the first time. Once
    /// somebody deletes it, `cleanup` is called in place of `reconcile`, again after each failure.
    /// [`Outcome::done`] says that all is cleaned up: the finalizer is removed, and the object goes.
    /// [`Outcome::requeue_after`] keeps it and calls `cleanup` again, then or when something
    /// changes.
    ///
    /// The name is qualified, such as `ex.io/bucket`. A controller has at most one. Remove it from
    /// the program only when no object carries it any more: nobody else would.
    #[must_use]
    pub fn finalizer<F, Fut>(mut self, name: impl Into<String>, cleanup: F) -> Self
    where
        F: Fn(Arc<K>, Context<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Outcome>> + Send + 'static,
    {
        self.finalizers.push(Finalizer::new(
            name.into(),
            Arc::new(move |object, cx| Box::pin(cleanup(object, cx))),
        ));
        self
    }

    /// Calls the function for a key whose object is gone, to forget what is kept in memory for it.
    ///
    /// It may be called more than once, and is not called for objects that went while the operator
    /// did not run: what is kept elsewhere needs a [`finalizer`](Self::finalizer).
    #[must_use]
    pub fn on_deleted<F, Fut>(mut self, deleted: F) -> Self
    where
        F: Fn(ObjectKey) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.deleted = Some(Arc::new(move |key| Box::pin(deleted(key))));
        self
    }

    /// Tells of what happens with [`Context::event`].
    #[must_use]
    pub fn events(self) -> Self {
        self.grants(PolicyRule {
            api_groups: vec!["events.k8s.io".to_owned()],
            resources: vec!["events".to_owned()],
            verbs: vec!["create".to_owned(), "patch".to_owned()],
            ..PolicyRule::default()
        })
    }

    /// Works on every copy of the operator, not on the leader's alone: for controllers that fill
    /// something in their own process and write nothing that another copy writes too.
    #[must_use]
    pub fn on_every_replica(mut self) -> Self {
        self.replicas = Replicas::Every;
        self
    }

    /// How many objects are worked on at once; 1 unless said otherwise.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Stops a run that takes longer; it counts as failed and is tried again. Without it a run
    /// may take as long as it likes.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// How keys wait for a worker: backoff, limits, ageing, fairness between namespaces.
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
