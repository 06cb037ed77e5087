//! The handle of a controller: its queue, its metrics and its loop detector.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::Metrics;
use crate::queue::{self, Queue, QueueOptions};
use crate::reconcile_loop::{LoopDetector, ReconcileLoop};

/// A reference to a controller, before and while it runs. Clones refer to the same controller.
#[derive(Clone)]
pub struct Handle {
    state: Arc<ControllerState>,
}

struct ControllerState {
    name: Arc<str>,
    queue: Queue,
    feeds: TaskTracker,
    /// Cancelled when the controller ends, for whatever reason.
    end: CancellationToken,
    metrics: Mutex<Metrics>,
    loop_detector: Arc<LoopDetector>,
}

impl Handle {
    /// A handle for a controller of this name that does not exist yet.
    pub fn new(name: impl Into<Arc<str>>, options: QueueOptions) -> Self {
        let name = name.into();
        Self {
            state: Arc::new(ControllerState {
                loop_detector: Arc::new(LoopDetector::new(Arc::clone(&name))),
                name,
                queue: Queue::with(options),
                feeds: TaskTracker::new(),
                end: CancellationToken::new(),
                metrics: Mutex::default(),
            }),
        }
    }

    /// The controller's name.
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// The controller's queue.
    pub fn queue(&self) -> &Queue {
        &self.state.queue
    }

    /// The metrics of the controller.
    pub fn metrics(&self) -> Metrics {
        self.state.metrics.lock().clone()
    }

    /// The metrics of the controller's queue.
    pub fn queue_metrics(&self) -> queue::Metrics {
        self.state.queue.metrics()
    }

    /// The last reconcile loop that was detected: a run that was triggered by its own writes.
    pub fn reconcile_loop(&self) -> watch::Receiver<Option<Arc<ReconcileLoop>>> {
        self.state.loop_detector.found()
    }

    pub(super) fn loop_detector(&self) -> &Arc<LoopDetector> {
        &self.state.loop_detector
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Metrics)) {
        count(&mut self.state.metrics.lock());
    }

    /// The tasks of the sources.
    pub(super) fn feeds(&self) -> &TaskTracker {
        &self.state.feeds
    }

    pub(super) fn end(&self) -> &CancellationToken {
        &self.state.end
    }

    /// Ends the sources when it is dropped.
    pub(super) fn end_guard(&self) -> DropGuard {
        self.state.end.clone().drop_guard()
    }

    /// Ends the sources and returns when their tasks have ended.
    pub(super) async fn end_sources(&self) {
        self.state.end.cancel();
        self.state.feeds.close();
        self.state.feeds.wait().await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("name", &self.state.name)
            .finish_non_exhaustive()
    }
}
