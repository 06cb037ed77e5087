//! A worker: takes keys from the queue and reconciles them, one after the other.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::{Kind, ObjectKey};
use tokio::task::coop::consume_budget;
use tokio::time::{self, Instant};
use tracing::Instrument as _;

use super::handle::Handle;
use super::{Failure, Outcome, Reconciler, Retry, Run};
use crate::client::Conflict as _;
use crate::panic_message::panic_message;
use crate::queue::{AddOptions, Finished, Queue};
use crate::reconcile_loop::{RunScope, in_run};

/// Numbers the runs of this process, so that the log lines of a run can be found.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// The result of a run.
enum RunResult {
    Success(Outcome),
    Failed(Failure),
    Panicked(Failure),
    TimedOut(Failure),
}

impl RunResult {
    /// Whether the run requests another one without a delay.
    fn requeues_immediately(&self) -> bool {
        match self {
            Self::Success(outcome) => outcome.next_run() == Some(Duration::ZERO),
            Self::Failed(_) | Self::Panicked(_) | Self::TimedOut(_) => false,
        }
    }
}

impl fmt::Display for RunResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success(outcome) => match outcome.next_run() {
                None => f.write_str("done"),
                Some(after) => write!(f, "again in {after:?}"),
            },
            Self::Failed(failure) if failure.is_conflict() => f.write_str("conflict"),
            Self::Failed(_) => f.write_str("failed"),
            Self::Panicked(_) => f.write_str("panicked"),
            Self::TimedOut(_) => f.write_str("timed out"),
        }
    }
}

/// Takes keys from the queue, one at a time, until it is shut down.
pub(super) async fn work(
    controller: Handle,
    kind: Option<Arc<Kind>>,
    reconcile: Reconciler,
    timeout: Option<Duration>,
) {
    let kind = kind.as_deref();
    let mut next = controller.queue().next().await;
    while let Some(key) = next {
        let run = Run::new(key.clone(), RUNS.fetch_add(1, Ordering::Relaxed));
        let span = tracing::info_span!(
            "reconcile",
            controller = controller.name(),
            group = kind.map(|kind| kind.group_version.group.as_str()),
            kind = kind.map(|kind| kind.kind.as_str()),
            namespace = key.namespace(),
            name = key.name(),
            reconcile_id = run.id
        );
        let key_guard = KeyGuard::new(&controller, &key);
        let active = ActiveWorker::new(&controller);
        let attempt = reconcile_once(&reconcile, run, timeout).instrument(span.clone());
        let result = in_run(RunScope::begin(controller.loop_detector(), &key), attempt).await;
        let time = active.since.elapsed();
        drop(active);
        let finished = span.in_scope(|| {
            controller.count_run(&result);
            let runs_again = result.requeues_immediately();
            let writes = controller.loop_detector().end(&key, runs_again);
            // `kubewright dev` enables this target and parses the line.
            tracing::debug!(
                target: "kubewright::reconcile",
                controller = controller.name(),
                object = %key,
                time = ?time,
                writes,
                outcome = %result,
                "ended"
            );
            key_guard.disarm();
            requeue(controller.queue(), &key, result)
        });
        next = controller.queue().next_after(&key, finished).await;
        // A reconcile function that never waits must not block the other tasks of the thread.
        consume_budget().await;
    }
}

/// Puts the key back into the queue when the worker is dropped in the middle of its run.
struct KeyGuard<'c> {
    controller: &'c Handle,
    key: Option<&'c ObjectKey>,
}

impl<'c> KeyGuard<'c> {
    fn new(controller: &'c Handle, key: &'c ObjectKey) -> Self {
        Self {
            controller,
            key: Some(key),
        }
    }

    /// The run has ended: its result decides whether the key is enqueued.
    fn disarm(mut self) {
        self.key = None;
    }
}

impl Drop for KeyGuard<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let queue = self.controller.queue();
            queue.add(key.clone());
            queue.done(key);
        }
    }
}

/// Counts a worker as active and measures its run, also when it is dropped in the middle of it.
struct ActiveWorker<'c> {
    controller: &'c Handle,
    since: Instant,
}

impl<'c> ActiveWorker<'c> {
    fn new(controller: &'c Handle) -> Self {
        controller.count(|metrics| metrics.active_workers += 1);
        Self {
            controller,
            since: Instant::now(),
        }
    }
}

impl Drop for ActiveWorker<'_> {
    fn drop(&mut self) {
        let time = self.since.elapsed();
        self.controller.count(|metrics| {
            metrics.active_workers -= 1;
            metrics.reconcile_time.observe(time);
        });
    }
}

/// A panic is a failure like any other: logged, counted and retried.
async fn reconcile_once(reconcile: &Reconciler, run: Run, timeout: Option<Duration>) -> RunResult {
    // The future is created inside, so that a panic before its first await is caught as well.
    let attempt = AssertUnwindSafe(async { reconcile(run).await }).catch_unwind();
    let result = match timeout {
        None => attempt.await,
        Some(timeout) => match time::timeout(timeout, attempt).await {
            Ok(result) => result,
            Err(_) => {
                return RunResult::TimedOut(Failure::from(format!(
                    "the reconcile function was stopped after {timeout:?}; make it shorter, or \
                     set a longer timeout"
                )));
            }
        },
    };
    match result {
        Ok(Ok(outcome)) => RunResult::Success(outcome),
        Ok(Err(failure)) => RunResult::Failed(failure),
        Err(panic) => RunResult::Panicked(Failure::from(format!(
            "the reconcile function panicked: {}",
            panic_message(panic.as_ref())
        ))),
    }
}

impl Handle {
    fn count_run(&self, result: &RunResult) {
        self.count(|metrics| match result {
            RunResult::Success(outcome) if outcome.next_run().is_some() => metrics.requeues += 1,
            RunResult::Success(_) => metrics.successes += 1,
            RunResult::Failed(failure) => {
                metrics.errors += 1;
                metrics.terminal_errors += u64::from(failure.retry() == Retry::OnChange);
                metrics.conflicts += u64::from(failure.is_conflict());
            }
            RunResult::Panicked(_) => {
                metrics.errors += 1;
                metrics.panics += 1;
            }
            RunResult::TimedOut(_) => {
                metrics.errors += 1;
                metrics.timeouts += 1;
            }
        });
    }
}

/// Requeues the key as the result of its run requires. An event that came in during the run takes
/// precedence over a delay.
fn requeue(queue: &Queue, key: &ObjectKey, result: RunResult) -> Finished {
    match result {
        RunResult::Success(outcome) => {
            if let Some(after) = outcome.next_run() {
                let priority = outcome.priority();
                queue.add_with(key.clone(), AddOptions { priority, after });
            }
            Finished::Forget
        }
        RunResult::Failed(failure)
        | RunResult::Panicked(failure)
        | RunResult::TimedOut(failure) => {
            match failure.retry() {
                Retry::Backoff => {
                    // No request is sent before the time that an overloaded server returned.
                    let min_delay = failure.server_retry_after().unwrap_or_default();
                    queue.add_rate_limited_after(key.clone(), min_delay);
                }
                Retry::After(delay) => {
                    queue.add_after(key.clone(), delay);
                }
                Retry::OnChange => {}
            }
            let failures = queue.failures(key);
            // A conflict is a race with another writer, not an error.
            if failure.is_conflict() {
                tracing::debug!(retry = ?failure.retry(), failures, "{failure}");
            } else {
                tracing::error!(retry = ?failure.retry(), failures, "{failure}");
            }
            Finished::Keep
        }
    }
}
