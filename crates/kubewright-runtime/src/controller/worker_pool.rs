//! The workers of a controller, which run while this process is the leader.

use std::sync::Arc;
use std::time::Duration;

use kubewright_core::Kind;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Reconciler;
use super::handle::Handle;
use super::worker::work;
use crate::election::{Leadership, Term};
use crate::queue::{AddOptions, Priority};
use crate::store::Store;

/// The workers of a controller, which run while this process is the leader.
pub(super) struct WorkerPool {
    pub(super) handle: Handle,
    /// The kind of the reconciled objects, for the log.
    pub(super) kind: Option<Arc<Kind>>,
    pub(super) reconcile: Reconciler,
    pub(super) workers: usize,
    pub(super) timeout: Option<Duration>,
    pub(super) leadership: Leadership,
    /// The objects that are enqueued at the beginning of each term after the first.
    pub(super) own: Option<Store>,
}

impl WorkerPool {
    /// Spawns workers at the beginning of each term and aborts them at its end, until `stop`.
    /// Returns the term that was current then; its workers continue.
    pub(super) async fn work_by_terms(
        &self,
        workers: &mut JoinSet<()>,
        stop: &CancellationToken,
    ) -> Option<Term> {
        let mut former = None;
        loop {
            let term = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                term = self.leadership.gained() => term,
            };
            if former.replace(term).is_some() {
                self.enqueue_all();
            }
            for _ in 0..self.workers {
                let reconcile = Arc::clone(&self.reconcile);
                let (handle, kind) = (self.handle.clone(), self.kind.clone());
                workers.spawn(work(handle, kind, reconcile, self.timeout));
            }
            let (controller, count) = (self.handle.name(), self.workers);
            tracing::debug!(
                controller,
                workers = count,
                term = term.number(),
                "workers started"
            );
            tokio::select! {
                biased;
                () = self.leadership.lost(term) => {}
                () = stop.cancelled() => return Some(term),
            }
            workers.shutdown().await;
            tracing::warn!(controller, term = term.number(), "no longer the leader");
        }
    }

    fn enqueue_all(&self) {
        let snapshot = self.own.as_ref().map(Store::snapshot);
        for (key, _) in snapshot.iter().flat_map(|snapshot| snapshot.iter()) {
            let options = AddOptions {
                priority: Some(Priority::INITIAL),
                ..AddOptions::default()
            };
            self.handle.queue().add_with(key.clone(), options);
        }
    }

    /// Returns when the term is over; never returns for `None`.
    pub(super) async fn lost(&self, term: Option<Term>) {
        match term {
            Some(term) => self.leadership.lost(term).await,
            None => std::future::pending().await,
        }
    }
}
