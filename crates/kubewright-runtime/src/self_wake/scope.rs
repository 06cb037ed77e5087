//! Which run the code that is being executed belongs to.

use std::sync::Arc;

use bytes::Bytes;
use kubewright_core::ObjectKey;

use super::tracker::{Tracker, Write};

/// A run of a reconcile function.
#[derive(Clone)]
pub(crate) struct Run {
    pub(super) tracker: Arc<Tracker>,
    pub(super) key: ObjectKey,
}

tokio::task_local! {
    static CURRENT: Run;
}

/// Executes a run: writes that it sends are noted as its own.
///
/// # Cancel safety
///
/// That of `work`.
pub(crate) async fn in_run<T>(run: Run, work: impl Future<Output = T>) -> T {
    CURRENT.scope(run, work).await
}

/// Whether a run is being executed.
pub(super) fn is_in_run() -> bool {
    CURRENT.try_with(|_| ()).is_ok()
}

/// Notes a write of the run that is being executed, with the response to it.
pub(super) fn note(what: String, response: &Bytes) {
    let noted = CURRENT.try_with(|run| {
        let write = Write::read(what, response);
        run.tracker.note_write(&run.key, write);
    });
    // Outside of a run nothing is to be noted.
    noted.unwrap_or_default();
}
