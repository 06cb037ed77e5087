//! The run that the current task executes.

use std::sync::Arc;

use bytes::Bytes;
use kubewright_core::ObjectKey;

use super::detector::LoopDetector;
use super::own_write::OwnWrite;

/// A run of a reconcile function, to which the writes of a task are attributed.
#[derive(Clone)]
pub(crate) struct RunScope {
    detector: Arc<LoopDetector>,
    key: ObjectKey,
}

tokio::task_local! {
    static CURRENT: RunScope;
}

impl RunScope {
    /// Begins a run of the key.
    pub(crate) fn begin(detector: &Arc<LoopDetector>, key: &ObjectKey) -> Self {
        detector.begin(key);
        Self {
            detector: Arc::clone(detector),
            key: key.clone(),
        }
    }
}

/// Executes a run. Writes that it sends are recorded as its own.
///
/// # Cancel safety
///
/// That of `work`.
pub(crate) async fn in_run<T>(run: RunScope, work: impl Future<Output = T>) -> T {
    CURRENT.scope(run, work).await
}

/// Whether the current task executes a run.
pub(super) fn is_in_run() -> bool {
    CURRENT.try_with(|_| ()).is_ok()
}

/// Records a write of the current run with its response.
pub(super) fn note(what: String, response: &Bytes) {
    // Fails only outside of a run, where there is nothing to record.
    CURRENT
        .try_with(|run| {
            let write = OwnWrite::read(what, response);
            run.detector.note_write(&run.key, write);
        })
        .ok();
}
