use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt as _;
use kubewright_core::ObjectKey;
use tracing::Instrument as _;

use super::panic::message_of;
use super::{Failure, Outcome, Reconciler, Retry};
use crate::queue::Queue;
use crate::write::WriteError;

/// Numbers the runs of this process, so that the lines of one run can be told from another's.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// Takes keys from the queue until it is shut down, one at a time.
pub(super) async fn work(controller: Arc<str>, queue: Queue, reconcile: Reconciler) {
    while let Some(key) = queue.next().await {
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let span = tracing::info_span!("reconcile", %controller, object = %key, run);
        let result = reconcile_once(&reconcile, &key)
            .instrument(span.clone())
            .await;
        span.in_scope(|| settle(&queue, &key, result));
    }
}

/// A panic is a failure like any other: logged, counted and tried again.
async fn reconcile_once(reconcile: &Reconciler, key: &ObjectKey) -> Result<Outcome, Failure> {
    // The future is made inside, so that a panic before its first await is caught as well.
    let attempt = async { reconcile(key.clone()).await };
    match AssertUnwindSafe(attempt).catch_unwind().await {
        Ok(result) => result,
        Err(panic) => Err(Failure::from(format!(
            "the reconcile function panicked: {}",
            message_of(panic.as_ref())
        ))),
    }
}

/// The delay is noted before the key is done: an event that came in between wins over it.
fn settle(queue: &Queue, key: &ObjectKey, result: Result<Outcome, Failure>) {
    match result {
        Ok(outcome) => {
            queue.forget(key);
            if let Some(delay) = outcome.next_run() {
                queue.add_after(key.clone(), delay);
            }
        }
        Err(failure) => {
            match failure.retry() {
                Retry::Backoff => queue.add_rate_limited(key.clone()),
                Retry::After(delay) => queue.add_after(key.clone(), delay),
                Retry::OnChange => {}
            }
            let failures = queue.failures(key);
            if is_conflict(&failure) {
                tracing::debug!(retry = ?failure.retry(), failures, "{failure}");
            } else {
                tracing::error!(retry = ?failure.retry(), failures, "{failure}");
            }
        }
    }
    queue.done(key);
}

/// Others write as well: nothing is wrong when they were first.
fn is_conflict(failure: &Failure) -> bool {
    let write = failure.cause().downcast_ref::<WriteError>();
    write.is_some_and(WriteError::is_conflict)
}
