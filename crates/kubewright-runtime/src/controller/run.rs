//! A controller: its sources, its reconcile function and its workers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kubewright_core::Kind;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::handle::Handle;
use super::running_source::RunningSource;
use super::worker_pool::WorkerPool;
use super::{Reconciler, Source};
use crate::election::Leadership;
use crate::queue::QueueOptions;
use crate::store::Store;

/// Calls a [`Reconciler`] for each key that its sources enqueue.
///
/// A key never has two workers at once; events that enqueue it during a run cause one more run.
/// Workers start when every source has delivered its initial state, so that the first run sees
/// the whole state. With leader election they work only while this process leads. Sources and
/// informers always run, so that a term begins with warm caches.
pub struct Controller {
    handle: Handle,
    kind: Option<Arc<Kind>>,
    reconcile: Reconciler,
    sources: Vec<Source>,
    workers: usize,
    timeout: Option<Duration>,
    leadership: Leadership,
    /// The objects that are enqueued at the beginning of each term after the first.
    own: Option<Store>,
}

impl Controller {
    /// A controller without sources and with one worker.
    pub fn new(name: impl Into<Arc<str>>, reconcile: Reconciler) -> Self {
        Self::with_handle(Handle::new(name, QueueOptions::default()), reconcile)
    }

    /// A controller for an existing handle. A handle has one controller.
    pub fn with_handle(handle: Handle, reconcile: Reconciler) -> Self {
        Self {
            handle,
            kind: None,
            reconcile,
            sources: Vec::new(),
            workers: 1,
            timeout: None,
            leadership: Leadership::without_election(),
            own: None,
        }
    }

    /// The handle of the controller.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Sets the kind of the reconciled objects, which is then part of log lines.
    #[must_use]
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = Some(Arc::new(kind));
        self
    }

    /// Sets the sources that enqueue keys.
    #[must_use]
    pub fn sources(mut self, sources: Vec<Source>) -> Self {
        self.sources = sources;
        self
    }

    /// Sets the number of workers, at least one.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Sets the time after which a run is aborted and counts as failed.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Restricts the workers to the terms of `leadership`. At the end of a term, runs are aborted
    /// and their keys wait for the next term. Each term after the first begins with all objects of
    /// `own`, because another leader can have left them half done.
    #[must_use]
    pub fn elected(mut self, leadership: Leadership, own: Store) -> Self {
        self.leadership = leadership;
        self.own = Some(own);
        self
    }

    /// Runs until `stop` is cancelled. Sends to `ready` when all sources have delivered their
    /// initial state, whether or not this process leads. Drops `ready` when that cannot happen
    /// because an informer was stopped before its first list.
    ///
    /// After `stop`, no new run begins, and current runs have the time `grace` to end.
    ///
    /// # Cancel safety
    ///
    /// When dropped, current runs are aborted.
    pub async fn run(self, ready: oneshot::Sender<()>, stop: CancellationToken, grace: Duration) {
        let handle = self.handle.clone();
        let _end = handle.end_guard();
        let sources = self.sources.into_iter();
        let mut running: Vec<_> = sources.map(|source| handle.add_source(source)).collect();
        let worker_pool = WorkerPool {
            handle: self.handle,
            kind: self.kind,
            reconcile: self.reconcile,
            workers: self.workers,
            timeout: self.timeout,
            leadership: self.leadership,
            own: self.own,
        };
        let is_synced = tokio::select! {
            () = stop.cancelled() => return,
            is_synced = all_synced(&mut running) => is_synced,
        };
        if !is_synced {
            tracing::warn!(
                controller = handle.name(),
                "a source ended before its initial state"
            );
            return;
        }
        handle.count(|metrics| metrics.max_workers = worker_pool.workers);
        // An error means that the receiver is gone: nothing waits for the controller.
        ready.send(()).ok();
        let mut workers = JoinSet::new();
        let term = worker_pool.work_by_terms(&mut workers, &stop).await;
        handle.end_sources().await;
        handle.queue().shut_down();
        let all = async { while workers.join_next().await.is_some() {} };
        let ended = tokio::select! {
            ended = tokio::time::timeout(grace, all) => ended.is_ok(),
            () = worker_pool.lost(term) => false,
        };
        if !ended {
            tracing::warn!(
                controller = handle.name(),
                ?grace,
                "runs did not end in time and were aborted"
            );
            workers.shutdown().await;
        }
    }
}

/// Returns whether every source has delivered its initial state, once that is known.
async fn all_synced(sources: &mut [RunningSource]) -> bool {
    for source in sources {
        if !source.synced().await {
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
