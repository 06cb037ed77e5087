use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use kubewright_core::ObjectKey;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::handle::Handle;
use super::worker::work;
use super::{Failure, Outcome, Source, Watch};
use crate::queue::QueueOptions;

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
/// everything.
pub struct Controller {
    handle: Handle,
    reconcile: Reconciler,
    sources: Vec<Source>,
    workers: usize,
    limit: Option<Duration>,
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
            reconcile,
            sources: Vec::new(),
            workers: 1,
            limit: None,
        }
    }

    /// What others do with it while it runs.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The same, woken by these sources.
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

    /// Runs until `stop` is cancelled; `ready` is told when the workers start. It is dropped when
    /// they cannot, because an informer was stopped before its first list.
    ///
    /// Then no new run begins, and running ones have the time of `grace` to end.
    ///
    /// # Cancel safety
    ///
    /// Dropped, running reconciles end in the middle of what they do.
    pub async fn run(self, ready: oneshot::Sender<()>, stop: CancellationToken, grace: Duration) {
        let handle = self.handle;
        let _end = handle.end_guard();
        let sources = self.sources.into_iter();
        let mut watches: Vec<Watch> = sources.map(|source| handle.watch(source)).collect();
        let synced = async {
            for watch in &mut watches {
                if !watch.synced().await {
                    return false;
                }
            }
            true
        };
        let is_synced = tokio::select! {
            () = stop.cancelled() => return,
            is_synced = synced => is_synced,
        };
        if !is_synced {
            tracing::warn!(
                controller = handle.name(),
                "a source ended before its initial state"
            );
            return;
        }
        handle.count(|metrics| metrics.max_workers = self.workers);
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            workers.spawn(work(
                handle.clone(),
                Arc::clone(&self.reconcile),
                self.limit,
            ));
        }
        tracing::debug!(
            controller = handle.name(),
            workers = self.workers,
            "working"
        );
        // Whoever asked may have gone away.
        ready.send(()).unwrap_or_default();
        stop.cancelled().await;
        handle.end_sources().await;
        handle.queue().shut_down();
        let all = async { while workers.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!(
                controller = handle.name(),
                ?grace,
                "runs did not end in time"
            );
            workers.shutdown().await;
        }
    }
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
