//! What keeps an informer running.

use tokio_util::sync::CancellationToken;

/// Keeps an informer running. Every clone, view and subscription shares it, and with the last of
/// them the informer stops.
pub(super) struct KeepAlive {
    stop: CancellationToken,
    on_release: Box<dyn Fn() + Send + Sync>,
}

impl KeepAlive {
    /// Cancels `stop` and calls `on_release` when it is dropped.
    pub(super) fn new(
        stop: CancellationToken,
        on_release: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Self {
            stop,
            on_release: Box::new(on_release),
        }
    }

    /// Cancelled when the informer has to stop.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        self.stop.cancel();
        (self.on_release)();
    }
}
