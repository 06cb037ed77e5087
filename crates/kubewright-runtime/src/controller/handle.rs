use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::{Metrics, Source};
use crate::queue::{self, Queue, QueueOptions};
use crate::reconcile_loop::{LoopDetector, ReconcileLoop};

/// A controller as others see it, before and while it runs. Cloning shares it.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

struct Shared {
    name: Arc<str>,
    queue: Queue,
    feeds: TaskTracker,
    /// Cancelled when the controller ends, however it does.
    end: CancellationToken,
    metrics: Mutex<Metrics>,
    loop_detector: Arc<LoopDetector>,
}

impl Handle {
    /// For a controller of this name that is yet to be made.
    pub fn new(name: impl Into<Arc<str>>, options: QueueOptions) -> Self {
        let name = name.into();
        Self {
            shared: Arc::new(Shared {
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
        &self.shared.name
    }

    /// The keys that wait for a worker.
    pub fn queue(&self) -> &Queue {
        &self.shared.queue
    }

    /// What the controller has done so far.
    pub fn metrics(&self) -> Metrics {
        self.shared.metrics.lock().clone()
    }

    /// What its queue has done so far and holds.
    pub fn queue_metrics(&self) -> queue::Metrics {
        self.shared.queue.metrics()
    }

    /// The last reconcile that was found to wake itself; none while there is none.
    pub fn reconcile_loop(&self) -> watch::Receiver<Option<Arc<ReconcileLoop>>> {
        self.shared.loop_detector.found()
    }

    pub(super) fn loop_detector(&self) -> &Arc<LoopDetector> {
        &self.shared.loop_detector
    }

    /// Lets one more source wake the controller, until what is returned is dropped or the
    /// controller ends.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn watch(&self, source: Source) -> Watch {
        let stop = self.shared.end.child_token();
        let (told, synced) = oneshot::channel();
        let feed = source.feed(self.clone(), told);
        let ended = stop.clone();
        self.shared.feeds.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = feed => {}
            }
        });
        Watch {
            initial: Initial::Unknown(synced),
            _stop: stop.drop_guard(),
        }
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Metrics)) {
        count(&mut self.shared.metrics.lock());
    }

    /// Ends the sources when it is dropped.
    pub(super) fn end_guard(&self) -> DropGuard {
        self.shared.end.clone().drop_guard()
    }

    /// Ends the sources and returns when they have.
    pub(super) async fn end_sources(&self) {
        self.shared.end.cancel();
        self.shared.feeds.close();
        self.shared.feeds.wait().await;
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("name", &self.shared.name)
            .finish_non_exhaustive()
    }
}

/// A source at work; dropped, it wakes nobody any more.
#[derive(Debug)]
#[must_use = "dropped, the source ends"]
pub struct Watch {
    initial: Initial,
    _stop: DropGuard,
}

/// Whether the initial state of a source has been delivered.
#[derive(Debug)]
enum Initial {
    Unknown(oneshot::Receiver<()>),
    Delivered,
    /// The source ended before it.
    Missing,
}

impl Watch {
    /// Returns when the initial state has been delivered; false when the source ended before.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when it is dropped; call it again to wait on.
    pub async fn synced(&mut self) -> bool {
        if let Initial::Unknown(synced) = &mut self.initial {
            self.initial = match synced.await {
                Ok(()) => Initial::Delivered,
                Err(_) => Initial::Missing,
            };
        }
        matches!(self.initial, Initial::Delivered)
    }
}
