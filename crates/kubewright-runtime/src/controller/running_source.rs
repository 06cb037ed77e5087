//! Sources that feed a controller's queue.

use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::handle::Handle;
use super::source::Source;

/// A source that feeds a controller's queue until it is dropped.
#[derive(Debug)]
#[must_use = "dropped, the source ends"]
pub struct RunningSource {
    initial: Initial,
    _stop: DropGuard,
}

/// Whether the initial state of a source has been delivered.
#[derive(Debug)]
enum Initial {
    Pending(oneshot::Receiver<()>),
    Delivered,
    /// The source ended before its initial state.
    Missing,
}

impl RunningSource {
    /// Returns when the initial state has been delivered; false when the source ended before.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: call it again to continue waiting.
    pub async fn synced(&mut self) -> bool {
        if let Initial::Pending(synced) = &mut self.initial {
            self.initial = match synced.await {
                Ok(()) => Initial::Delivered,
                Err(_) => Initial::Missing,
            };
        }
        matches!(self.initial, Initial::Delivered)
    }
}

impl Handle {
    /// Adds a source to the controller, which enqueues keys until the returned value is dropped or
    /// the controller ends.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn add_source(&self, source: Source) -> RunningSource {
        let stop = self.end().child_token();
        let (sender, receiver) = oneshot::channel();
        let feed = source.feed(self.clone(), sender);
        let stopped = stop.clone();
        self.feeds().spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = feed => {}
            }
        });
        RunningSource {
            initial: Initial::Pending(receiver),
            _stop: stop.drop_guard(),
        }
    }
}
