use std::sync::Arc;

use kubewright_core::Revision;
use tokio::sync::watch;

use super::{Change, Compacted, Store};

/// How many changes one call hands out, so that a reader far behind does not hold them all.
const BATCH: usize = 128;
/// About how many bytes it hands out, once one change has been: objects may be of any size.
const BATCH_BYTES: usize = 256 * 1024;

/// What of a batch is still free.
#[derive(Debug)]
pub(super) struct Batch {
    changes: usize,
    bytes: usize,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            changes: BATCH,
            bytes: BATCH_BYTES,
        }
    }
}

impl Batch {
    /// Takes the room of a change; whether nothing is left then.
    pub(super) fn is_filled_by(&mut self, change: &Change) -> bool {
        self.changes = self.changes.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(change.weight());
        self.changes == 0 || self.bytes == 0
    }
}

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
