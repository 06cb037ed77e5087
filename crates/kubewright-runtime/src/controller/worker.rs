use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use kubewright_core::{Kind, ObjectKey};
use tokio::task::coop::consume_budget;
use tokio::time::{Instant, timeout};
use tracing::Instrument as _;

use super::handle::Handle;
use super::{Failure, Outcome, Reconciler, Retry, Run};
use crate::client::Conflict as _;
use crate::panic_message::panic_message;
use crate::queue::{AddOptions, Finished, Queue};
use crate::reconcile_loop::{RunScope, in_run};

/// Numbers the runs of this process, so that the lines of one run can be told from another's.
static RUNS: AtomicU64 = AtomicU64::new(1);

/// How a run ended.
enum End {
    Well(Outcome),
    Failed(Failure),
    Panicked(Failure),
    /// It had no more time.
    Late(Failure),
}

impl End {
    /// Whether the run has asked for another one without a pause.
    fn runs_again_at_once(&self) -> bool {
        match self {
            Self::Well(outcome) => outcome.next_run() == Some(Duration::ZERO),
            Self::Failed(_) | Self::Panicked(_) | Self::Late(_) => false,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Well(outcome) => match outcome.next_run() {
                None => f.write_str("done"),
                Some(after) => write!(f, "again in {after:?}"),
            },
            Self::Failed(failure) if failure.is_conflict() => f.write_str("conflict"),
            Self::Failed(_) => f.write_str("failed"),
            Self::Panicked(_) => f.write_str("panicked"),
            Self::Late(_) => f.write_str("out of time"),
        }
    }
}

/// Takes keys from the queue until it is shut down, one at a time.
pub(super) async fn work(
    controller: Handle,
    kind: Option<Arc<Kind>>,
    reconcile: Reconciler,
    limit: Option<Duration>,
) {
    let kind = kind.as_deref();
    let mut next = controller.queue().next().await;
    while let Some(key) = next {
        let run = Run {
            key: key.clone(),
            id: RUNS.fetch_add(1, Ordering::Relaxed),
        };
        let span = tracing::info_span!(
            "reconcile",
            controller = controller.name(),
            group = kind.map(|kind| kind.group_version.group.as_str()),
            kind = kind.map(|kind| kind.kind.as_str()),
            namespace = key.namespace(),
            name = key.name(),
            reconcile_id = run.id
        );
        let taken = KeyGuard::new(&controller, &key);
        let active = Active::new(&controller);
        let attempt = reconcile_once(&reconcile, run, limit).instrument(span.clone());
        let end = in_run(RunScope::begin(controller.loop_detector(), &key), attempt).await;
        let time = active.since.elapsed();
        drop(active);
        let finished = span.in_scope(|| {
            controller.note(&end);
            let runs_again = end.runs_again_at_once();
            let writes = controller.loop_detector().end(&key, runs_again);
            // `kubewright dev` asks for this target and reads the line.
            tracing::debug!(
                target: "kubewright::reconcile",
                controller = controller.name(),
                object = %key,
                time = ?time,
                writes,
                outcome = %end,
                "ended"
            );
            taken.back();
            settle(controller.queue(), &key, end)
        });
        next = controller.queue().next_after(&key, finished).await;
        // A reconcile that never waits must not keep the thread from other tasks.
        consume_budget().await;
    }
}

/// A key that goes back into the queue when the worker is dropped in the middle of its run.
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

    /// The run has ended; its end decides what becomes of the key.
    fn back(mut self) {
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

/// A worker with a key, counted also when it is dropped in the middle of its run.
struct Active<'c> {
    controller: &'c Handle,
    since: Instant,
}

impl<'c> Active<'c> {
    fn new(controller: &'c Handle) -> Self {
        controller.count(|metrics| metrics.active_workers += 1);
        Self {
            controller,
            since: Instant::now(),
        }
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        let time = self.since.elapsed();
        self.controller.count(|metrics| {
            metrics.active_workers -= 1;
            metrics.reconcile_time.observe(time);
        });
    }
}

/// A panic is a failure like any other: logged, counted and tried again.
async fn reconcile_once(reconcile: &Reconciler, run: Run, limit: Option<Duration>) -> End {
    // The future is made inside, so that a panic before its first await is caught as well.
    let attempt = AssertUnwindSafe(async { reconcile(run).await }).catch_unwind();
    let answer = match limit {
        None => attempt.await,
        Some(limit) => match timeout(limit, attempt).await {
            Ok(answer) => answer,
            Err(_) => {
                return End::Late(Failure::from(format!(
                    "the reconcile function was stopped after {limit:?}; make it shorter, or set \
                     a longer time-out"
                )));
            }
        },
    };
    match answer {
        Ok(Ok(outcome)) => End::Well(outcome),
        Ok(Err(failure)) => End::Failed(failure),
        Err(panic) => End::Panicked(Failure::from(format!(
            "the reconcile function panicked: {}",
            panic_message(panic.as_ref())
        ))),
    }
}

impl Handle {
    fn note(&self, end: &End) {
        self.count(|metrics| match end {
            End::Well(outcome) if outcome.next_run().is_some() => metrics.requeues += 1,
            End::Well(_) => metrics.successes += 1,
            End::Failed(failure) => {
                metrics.errors += 1;
                metrics.terminal_errors += u64::from(failure.retry() == Retry::OnChange);
                metrics.conflicts += u64::from(failure.is_conflict());
            }
            End::Panicked(_) => {
                metrics.errors += 1;
                metrics.panics += 1;
            }
            End::Late(_) => {
                metrics.errors += 1;
                metrics.timeouts += 1;
            }
        });
    }
}

/// What becomes of a key before it is done: an event that came in between wins over a delay.
fn settle(queue: &Queue, key: &ObjectKey, end: End) -> Finished {
    match end {
        End::Well(outcome) => {
            if let Some(after) = outcome.next_run() {
                let priority = outcome.priority();
                queue.add_with(key.clone(), AddOptions { priority, after });
            }
            Finished::Forget
        }
        End::Failed(failure) | End::Panicked(failure) | End::Late(failure) => {
            match failure.retry() {
                Retry::Backoff => {
                    // A server that says when it has time again is not asked before.
                    let asked = failure.wait_asked_for().unwrap_or_default();
                    queue.add_rate_limited_after(key.clone(), asked);
                }
                Retry::After(delay) => {
                    queue.add_after(key.clone(), delay);
                }
                Retry::OnChange => {}
            }
            let failures = queue.failures(key);
            // Others write as well: nothing is wrong when they were first.
            if failure.is_conflict() {
                tracing::debug!(retry = ?failure.retry(), failures, "{failure}");
            } else {
                tracing::error!(retry = ?failure.retry(), failures, "{failure}");
            }
            Finished::Keep
        }
    }
}
