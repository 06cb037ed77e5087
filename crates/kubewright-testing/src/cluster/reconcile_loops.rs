//! Detects reconciles of the operators under test that trigger themselves.

use std::fmt;
use std::sync::Arc;

use futures_util::future::select_all;
use kubewright::Running;
use kubewright::controller::ReconcileLoop;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

/// The reconcile loops that operators have found. On the embedded cluster no virtual time passes in
/// such a loop, so that a test would wait forever. Clones share their state.
#[derive(Clone, Default)]
pub(super) struct ReconcileLoops {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    controllers: Mutex<Vec<watch::Receiver<Option<Arc<ReconcileLoop>>>>>,
    added: Notify,
}

impl ReconcileLoops {
    /// Observes the controllers of an operator.
    pub(super) fn include(&self, running: &Running) {
        let controllers = running.controllers().iter();
        let controllers = controllers.map(|controller| controller.reconcile_loop());
        self.shared.controllers.lock().extend(controllers);
        self.shared.added.notify_waiters();
    }

    /// The first loop that was found.
    pub(super) fn found(&self) -> Option<Arc<ReconcileLoop>> {
        let controllers = self.shared.controllers.lock();
        controllers
            .iter()
            .find_map(|controller| controller.borrow().clone())
    }

    /// Waits until a loop is found.
    pub(super) async fn wait(&self) -> Arc<ReconcileLoop> {
        loop {
            let added = self.shared.added.notified();
            if let Some(found) = self.found() {
                return found;
            }
            let mut controllers = self.shared.controllers.lock().clone();
            // The controllers of stopped operators find no more loops.
            controllers.retain(|controller| controller.has_changed().is_ok());
            let changes: Vec<_> = controllers
                .iter_mut()
                .map(|controller| Box::pin(controller.changed()))
                .collect();
            if changes.is_empty() {
                added.await;
            } else {
                tokio::select! {
                    () = added => {}
                    _ = select_all(changes) => {}
                }
            }
        }
    }
}

impl fmt::Debug for ReconcileLoops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReconcileLoops")
            .field(&self.found())
            .finish()
    }
}
