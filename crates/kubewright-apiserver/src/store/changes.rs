use std::sync::Arc;

use kubewright_core::Revision;
use tokio::sync::watch;

use super::{Change, Compacted, Store};

/// How many changes one call hands out, so that a reader far behind does not hold them all.
const BATCH: usize = 128;

/// Follows the writes to a store, in order, from a revision on.
#[derive(Debug)]
pub struct Changes {
    store: Store,
    resource: Option<Arc<str>>,
    at: Revision,
    wake: watch::Receiver<Revision>,
}

impl Changes {
    pub(super) fn new(
        store: Store,
        resource: Option<Arc<str>>,
        at: Revision,
        wake: watch::Receiver<Revision>,
    ) -> Self {
        Self {
            store,
            resource,
            at,
            wake,
        }
    }

    /// The revision up to which everything was handed out.
    pub fn position(&self) -> Revision {
        self.at
    }

    /// What happened since the last call, without waiting; empty when nothing did.
    pub fn now(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        // Seen before reading: a write that comes after the read wakes the next wait.
        self.wake.mark_unchanged();
        let (changes, at) = self
            .store
            .read_log(self.at, self.resource.as_deref(), BATCH)?;
        self.at = at;
        Ok(changes)
    }

    /// The next changes, at least one.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when this is dropped: changes count as handed out only when it returns.
    pub async fn next(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        loop {
            let changes = self.now()?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            // The sender lives in the store, which this holds; it is only replaced when nobody
            // listens.
            if self.wake.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
