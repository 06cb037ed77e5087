//! Readers of the log.

use std::fmt;
use std::sync::Arc;

use kubewright_core::Revision;
use tokio::sync::watch;

use super::batch::Batch;
use super::log::{Change, Compacted};
use super::shared::StoreInner;

/// The writes to a store after a revision, in order.
pub struct Changes {
    store: Arc<StoreInner>,
    resource: Option<Arc<str>>,
    at: Revision,
    wake: watch::Receiver<Revision>,
}

impl Changes {
    pub(super) fn new(
        store: Arc<StoreInner>,
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

    /// The revision up to which changes were returned.
    pub fn position(&self) -> Revision {
        self.at
    }

    /// The changes since the last call, without waiting.
    pub fn now(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        // Marked before reading, so that a write after the read wakes the next wait.
        self.wake.mark_unchanged();
        let (changes, at) =
            self.store
                .read_log(self.at, self.resource.as_deref(), Batch::default())?;
        self.at = at;
        Ok(changes)
    }

    /// The next changes, at least one.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when this is dropped: changes are consumed only when it returns.
    pub async fn next(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        loop {
            let changes = self.now()?;
            if !changes.is_empty() {
                return Ok(changes);
            }
            // The sender is in the store, which this holds.
            if self.wake.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("resource", &self.resource)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use crate::store::{ChangeKind, Expected, Key, Store};

    fn key(name: &str) -> Key {
        Key::new("pods", Some("ns"), name)
    }

    fn pod(name: &str, phase: u64) -> Value {
        json!({"kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "phase": phase})
    }

    #[tokio::test(start_paused = true)]
    async fn followers_see_only_their_resource_in_order() {
        let store = Store::new(8);
        let mut pods = store.watch_resource_from("pods", Revision::default());
        let node = Key::new("nodes", None, "n");
        store.put(node, Expected::Absent, json!({})).unwrap();
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let batch = pods.next().await.unwrap();
        assert_eq!(batch.len(), 1);
        assert_eq!(batch[0].kind, ChangeKind::Added);
        store.remove(key("a"), Revision::new(2)).unwrap();
        let batch = pods.next().await.unwrap();
        assert_eq!(batch[0].kind, ChangeKind::Deleted);
        assert_eq!(batch[0].revision(), Revision::new(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_follower_that_falls_behind_the_log_is_told() {
        let store = Store::new(1);
        let mut pods = store.watch_resource_from("pods", Revision::default());
        for name in ["a", "b", "c"] {
            store
                .put(key(name), Expected::Absent, pod(name, 1))
                .unwrap();
        }
        let compacted = pods.next().await.unwrap_err();
        assert_eq!(compacted.to_string(), "too old resource version: 0 (2)");
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_ends_by_bytes_and_nothing_is_left_out() {
        let store = Store::new(100);
        let mut pods = store.watch_resource_from("pods", Revision::default());
        for n in 0..10 {
            let (name, large) = (format!("p{n}"), "x".repeat(100_000));
            let value = json!({"metadata": {"name": name}, "data": large});
            store.put(key(&name), Expected::Absent, value).unwrap();
        }
        let mut batches = Vec::new();
        while pods.position() < store.revision() {
            batches.push(pods.next().await.unwrap().len());
        }
        assert_eq!(batches, [2; 5]);
    }
}
