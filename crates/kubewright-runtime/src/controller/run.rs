use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use kubewright_core::{Kind, ObjectKey};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::handle::Handle;
use super::worker_pool::WorkerPool;
use super::{Failure, Outcome, Source, Watch};
use crate::election::Leadership;
use crate::queue::QueueOptions;
use crate::store::Store;

/// Brings the world closer to what one object asks for.
pub type Reconciler =
    Arc<dyn Fn(Run) -> BoxFuture<'static, Result<Outcome, Failure>> + Send + Sync>;

/// One call of a [`Reconciler`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Run {
    /// Which object to look at.
    pub key: ObjectKey,
    /// The number of the run, different for all runs of the process; `reconcile_id` in the log.
    pub id: u64,
}

/// Calls a [`Reconciler`] for each key that its sources wake.
///
/// A key is never worked on twice at once; whatever wakes it meanwhile causes one more run.
/// Workers start when every source has delivered its initial state, so that the first run sees
/// everything. Where a leader is elected they work in its terms alone; sources and informers do so
/// always, so that a term begins with everything at hand.
pub struct Controller {
    handle: Handle,
    kind: Option<Arc<Kind>>,
    reconcile: Reconciler,
    sources: Vec<Source>,
    workers: usize,
    limit: Option<Duration>,
    leadership: Leadership,
    /// The objects that are looked at again when a term begins.
    own: Option<Store>,
}

impl Controller {
    /// A controller without sources and with one worker.
    pub fn new(name: impl Into<Arc<str>>, reconcile: Reconciler) -> Self {
        Self::with(Handle::new(name, QueueOptions::default()), reconcile)
    }

    /// The same for a handle that is known already. One handle has one controller.
    pub fn with(handle: Handle, reconcile: Reconciler) -> Self {
        Self {
            handle,
            kind: None,
            reconcile,
            sources: Vec::new(),
            workers: 1,
            limit: None,
            leadership: Leadership::unrivalled(),
            own: None,
        }
    }

    /// What others do with it while it runs.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The same for objects of this kind, which the log then names beside them.
    #[must_use]
    pub fn of(mut self, kind: Kind) -> Self {
        self.kind = Some(Arc::new(kind));
        self
    }

    /// A controller like this that is also enqueued by these sources.
    #[must_use]
    pub fn sources(mut self, sources: Vec<Source>) -> Self {
        self.sources = sources;
        self
    }

    /// The same with so many workers, at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// The same; a run that takes longer is stopped and counts as failed.
    #[must_use]
    pub fn time_limit(mut self, limit: Option<Duration>) -> Self {
        self.limit = limit;
        self
    }

    /// The same, at work only while `leadership` has it. When that ends, runs end where they are,
    /// and their keys wait for the next term; each term after the first begins with all objects
    /// of `own`, because another may have left them half done.
    #[must_use]
    pub fn elected(mut self, leadership: Leadership, own: Store) -> Self {
        self.leadership = leadership;
        self.own = Some(own);
        self
    }

    /// Runs until `stop` is cancelled; `ready` is told when the workers may start, elected or not.
    /// It is dropped when they cannot, because an informer was stopped before its first list.
    ///
    /// Then no new run begins, and running ones have the time of `grace` to end.
    ///
    /// # Cancel safety
    ///
    /// Dropped, running reconciles end in the middle of what they do.
    pub async fn run(self, ready: oneshot::Sender<()>, stop: CancellationToken, grace: Duration) {
        let handle = self.handle.clone();
        let _end = handle.end_guard();
        let sources = self.sources.into_iter();
        let mut watches: Vec<Watch> = sources.map(|source| handle.watch(source)).collect();
        let worker_pool = WorkerPool {
            handle: self.handle,
            kind: self.kind,
            reconcile: self.reconcile,
            workers: self.workers,
            limit: self.limit,
            leadership: self.leadership,
            own: self.own,
        };
        let is_synced = tokio::select! {
            () = stop.cancelled() => return,
            is_synced = all_synced(&mut watches) => is_synced,
        };
        if !is_synced {
            tracing::warn!(
                controller = handle.name(),
                "a source ended before its initial state"
            );
            return;
        }
        handle.count(|metrics| metrics.max_workers = worker_pool.workers);
        // Whoever asked may have gone away.
        ready.send(()).unwrap_or_default();
        let mut workers = JoinSet::new();
        let term = worker_pool.work_by_terms(&mut workers, &stop).await;
        handle.end_sources().await;
        handle.queue().shut_down();
        let all = async { while workers.join_next().await.is_some() {} };
        let ended = tokio::select! {
            ended = tokio::time::timeout(grace, all) => ended.is_ok(),
            () = worker_pool.deposed(term) => false,
        };
        if !ended {
            tracing::warn!(
                controller = handle.name(),
                ?grace,
                "runs did not end in time"
            );
            workers.shutdown().await;
        }
    }
}

/// Whether each has delivered its initial state, once that is known.
async fn all_synced(watches: &mut [Watch]) -> bool {
    for watch in watches {
        if !watch.synced().await {
            return false;
        }
    }
    true
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.handle.name())
            .field("sources", &self.sources)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
