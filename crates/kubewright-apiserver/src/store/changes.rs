//! Readers of the log.

use std::fmt;
use std::sync::Arc;

use kubewright_core::Revision;
use tokio::sync::watch;

use super::batch::Batch;
use super::inner::StoreInner;
use super::log::{Change, Compacted};

/// The writes to a store after a revision, in order.
pub struct Changes {
    store: Arc<StoreInner>,
    resource: Option<Arc<str>>,
    position: Revision,
    /// Changes with each write to the resource.
    notified: watch::Receiver<Revision>,
}

impl Changes {
    pub(super) fn new(
        store: Arc<StoreInner>,
        resource: Option<Arc<str>>,
        position: Revision,
        notified: watch::Receiver<Revision>,
    ) -> Self {
        Self {
            store,
            resource,
            position,
            notified,
        }
    }

    /// The revision up to which changes were returned.
    pub fn position(&self) -> Revision {
        self.position
    }

    /// The changes since the last call, without waiting.
    pub fn now(&mut self) -> Result<Vec<Arc<Change>>, Compacted> {
        // Marked before the read, so that a later write ends the next wait.
        self.notified.mark_unchanged();
        let resource = self.resource.as_deref();
        let (changes, position) = self
            .store
            .read_log(self.position, resource, Batch::default())?;
        self.position = position;
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
            // The store, which this holds, has the sender.
            if self.notified.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("resource", &self.resource)
            .field("position", &self.position)
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
    async fn reader_of_a_resource_sees_only_its_changes_in_order() {
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
    async fn reader_behind_the_log_fails_with_compacted() {
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
    async fn batch_is_limited_by_bytes_and_skips_no_change() {
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
