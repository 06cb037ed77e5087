use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use kubewright_core::ObjectKey;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::worker::work;
use super::{Failure, Outcome, Source};
use crate::queue::Queue;

/// Brings the world closer to what one object asks for.
pub type Reconciler =
    Arc<dyn Fn(ObjectKey) -> BoxFuture<'static, Result<Outcome, Failure>> + Send + Sync>;

/// Calls a [`Reconciler`] for each key that its sources wake.
///
/// A key is never worked on twice at once; whatever wakes it meanwhile causes one more run.
/// Workers start when every source has delivered its initial state, so that the first run sees
/// everything.
pub struct Controller {
    name: Arc<str>,
    reconcile: Reconciler,
    sources: Vec<Source>,
    workers: usize,
    queue: Queue,
}

impl Controller {
    /// A controller without sources and with one worker.
    pub fn new(name: impl Into<Arc<str>>, reconcile: Reconciler) -> Self {
        Self {
            name: name.into(),
            reconcile,
            sources: Vec::new(),
            workers: 1,
            queue: Queue::new(),
        }
    }

    /// The same, woken by these sources.
    #[must_use]
    pub fn sources(mut self, sources: Vec<Source>) -> Self {
        self.sources = sources;
        self
    }

    /// The same with this many workers.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
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
        let mut feeds = JoinSet::new();
        let mut synced = Vec::new();
        for source in self.sources {
            let (told, waits) = oneshot::channel();
            synced.push(waits);
            feeds.spawn(source.feed(self.queue.clone(), told));
        }
        let synced = tokio::select! {
            () = stop.cancelled() => return,
            synced = join_all(synced) => synced,
        };
        if synced.iter().any(Result::is_err) {
            tracing::warn!(controller = %self.name, "a source ended before its initial state");
            return;
        }
        let mut workers = JoinSet::new();
        for _ in 0..self.workers {
            workers.spawn(work(
                Arc::clone(&self.name),
                self.queue.clone(),
                Arc::clone(&self.reconcile),
            ));
        }
        tracing::debug!(controller = %self.name, workers = self.workers, "working");
        // Whoever asked may have gone away.
        ready.send(()).unwrap_or_default();
        stop.cancelled().await;
        feeds.shutdown().await;
        self.queue.shut_down();
        let all = async { while workers.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!(controller = %self.name, ?grace, "runs did not end in time");
            workers.shutdown().await;
        }
    }
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("sources", &self.sources.len())
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}
