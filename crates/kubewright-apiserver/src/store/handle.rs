//! The handle of a store.

use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use super::changes::Changes;
use super::conflict::{CreateConflict, Expected, ObservedRevision, WriteConflict};
#[cfg(feature = "disk")]
use super::disk::{Disk, DiskError, DiskWriter};
use super::history::History;
use super::inner::StoreInner;
use super::key::Key;
use super::log::{Change, ChangeKind, Compacted, Log};
use super::object::Object;
use super::snapshot::Snapshot;
use super::state::StoreState;
use super::subscribers::Subscribers;

/// The objects of a cluster. Clones share them; [`Store::fork`] does not.
#[derive(Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
}

impl Store {
    /// An empty store whose log keeps the given history.
    pub fn new(history: impl Into<History>) -> Self {
        Self::with_state(StoreState {
            objects: OrdMap::new(),
            revision: Revision::default(),
            latest: OrdMap::new(),
            log: Log::new(history.into()),
        })
    }

    /// A store with the same objects and history, which shares nothing that changes.
    ///
    /// Costs the same whatever is stored. Watches of this store do not see the writes of the fork.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = self.inner.state.lock().clone();
        Self::with_state(state)
    }

    fn with_state(state: StoreState) -> Self {
        Self {
            inner: Arc::new(StoreInner {
                subscribers: Arc::new(Subscribers::new(state.revision)),
                state: Arc::new(Mutex::new(state)),
                #[cfg(feature = "disk")]
                disk: None,
            }),
        }
    }

    /// The store in a data folder. Its history begins with the stored objects.
    #[cfg(feature = "disk")]
    pub(crate) fn on_disk(mut disk: Disk, history: History) -> Result<Self, DiskError> {
        let loaded = disk.load()?;
        let mut latest = OrdMap::new();
        for key in loaded.objects.keys() {
            latest.insert(Arc::from(key.resource()), loaded.revision);
        }
        let subscribers = Arc::new(Subscribers::new(loaded.revision));
        let state = Arc::new(Mutex::new(StoreState {
            objects: loaded.objects,
            revision: loaded.revision,
            latest,
            log: Log::starting_at(loaded.revision, history),
        }));
        let writer = DiskWriter::start(
            disk,
            loaded.revision,
            Arc::clone(&state),
            Arc::clone(&subscribers),
        )?;
        Ok(Self {
            inner: Arc::new(StoreInner {
                state,
                subscribers,
                disk: Some(writer),
            }),
        })
    }

    /// Waits until all changes so far are on the disk, if the store is on one. Fails with the
    /// reason when changes were lost since the count of losses was `losses`.
    #[cfg(feature = "disk")]
    pub(crate) async fn settled(&self, losses: u64) -> Result<(), Arc<str>> {
        match &self.inner.disk {
            None => Ok(()),
            Some(disk) => disk.until(self.revision(), losses).await,
        }
    }

    /// How often stored changes were lost because the disk failed.
    #[cfg(feature = "disk")]
    pub(crate) fn losses(&self) -> u64 {
        self.inner.disk.as_ref().map_or(0, DiskWriter::losses)
    }

    /// Why writes fail at present.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.inner.disk {
            return disk.failure();
        }
        None
    }

    /// The revision of the last write.
    pub fn revision(&self) -> Revision {
        self.inner.state.lock().revision
    }

    /// Changes at each stored write.
    pub fn revisions(&self) -> watch::Receiver<Revision> {
        self.inner.subscribers.subscribe()
    }

    /// The current state.
    pub fn snapshot(&self) -> Snapshot {
        self.inner.state.lock().snapshot()
    }

    /// The state at `revision`, which the log must hold.
    pub fn snapshot_at(&self, revision: Revision) -> Result<Snapshot, Compacted> {
        let state = self.inner.state.lock().clone();
        state.snapshot_at(revision)
    }

    /// The object at that key.
    pub fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.inner.state.lock().objects.get(key).cloned()
    }

    /// The objects of a resource (`deployments.apps`), of one namespace or of all, in key order.
    pub fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let snapshot = self.snapshot();
        snapshot.list(resource, namespace).cloned().collect()
    }

    /// The writes after `from`.
    pub fn watch_from(&self, from: Revision) -> Changes {
        Changes::new(Arc::clone(&self.inner), None, from, self.revisions())
    }

    /// The writes to one resource after `from`.
    pub fn watch_resource_from(&self, resource: &str, from: Revision) -> Changes {
        let resource: Arc<str> = resource.into();
        let notified = self.inner.subscribers.subscribe_resource(&resource);
        Changes::new(Arc::clone(&self.inner), Some(resource), from, notified)
    }

    /// Stores `value` under `key` with the next revision. A value that equals the stored value
    /// changes nothing, and the object keeps its revision.
    pub fn put(
        &self,
        key: Key,
        expected: Expected,
        value: Value,
    ) -> Result<Arc<Object>, WriteConflict> {
        self.inner
            .put(self.inner.state.lock(), key, expected, value)
    }

    /// Drops the history, as on a server that has just started.
    pub(crate) fn start_history(&self) {
        let mut state = self.inner.state.lock();
        let revision = state.revision;
        state.log.start_at(revision);
    }

    /// Stores a new object, if the objects that it depends on are current.
    pub(crate) fn create(
        &self,
        key: Key,
        value: Value,
        observed: &[ObservedRevision],
    ) -> Result<Arc<Object>, CreateConflict> {
        let state = self.inner.state.lock();
        let is_current = |observed: &ObservedRevision| {
            let current = state.objects.get(&observed.key);
            current.is_some_and(|object| object.revision() == observed.revision)
        };
        if !observed.iter().all(is_current) {
            return Err(CreateConflict::Outdated(value));
        }
        if let Some(current) = state.objects.get(&key) {
            return Err(CreateConflict::Exists(Arc::clone(current)));
        }
        let stored = self.inner.put(state, key, Expected::Absent, value);
        Ok(stored.expect("the key is absent, and the lock is held"))
    }

    /// Removes the object at `key`. Returns the stored state with the revision of the removal, which
    /// watches see as well.
    pub fn remove(&self, key: Key, expected: Revision) -> Result<Arc<Object>, WriteConflict> {
        let mut state = self.inner.state.lock();
        let before = state.check(&key, Expected::At(expected))?;
        let Some(stored) = &before else {
            return Err(WriteConflict { current: None });
        };
        let last = stored.value().clone();
        let after = Arc::new(Object::new(last, state.revision.next()));
        state.objects.remove(&key);
        let change = Change {
            key,
            before,
            after: Arc::clone(&after),
            kind: ChangeKind::Deleted,
        };
        self.inner.record(state, change);
        Ok(after)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.snapshot()).finish()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{CreateConflict, Expected, Key, ObservedRevision, Store};

    fn key(name: &str) -> Key {
        Key::new("pods", Some("ns"), name)
    }

    fn pod(name: &str, phase: u64) -> Value {
        json!({"kind": "Pod", "metadata": {"name": name, "namespace": "ns"}, "phase": phase})
    }

    fn names(snapshot: &super::Snapshot) -> Vec<&str> {
        snapshot
            .list("pods", None)
            .map(|object| object.name())
            .collect()
    }

    #[test]
    fn each_write_gets_the_next_revision_and_a_no_op_keeps_it() {
        let store = Store::new(8);
        let first = store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let again = store
            .put(key("a"), Expected::At(first.revision()), pod("a", 1))
            .unwrap();
        assert_eq!(again.revision(), Revision::new(1));
        let second = store
            .put(key("a"), Expected::At(first.revision()), pod("a", 2))
            .unwrap();
        assert_eq!(second.revision(), Revision::new(2));
        assert_eq!(second.metadata("resourceVersion"), Some(&json!("2")));
        let removed = store.remove(key("a"), second.revision()).unwrap();
        assert_eq!(removed.metadata("resourceVersion"), Some(&json!("3")));
        assert!(store.get(&key("a")).is_none());
    }

    #[test]
    fn write_with_an_outdated_revision_is_a_conflict() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let conflict = store
            .put(key("a"), Expected::Absent, pod("a", 2))
            .unwrap_err();
        assert_eq!(conflict.current.unwrap().value()["phase"], 1);
        assert!(store.remove(key("b"), Revision::new(1)).is_err());
    }

    #[test]
    fn new_object_is_stored_only_while_observed_revisions_are_current() {
        let store = Store::new(8);
        let first = store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let observed = [ObservedRevision {
            key: key("a"),
            revision: first.revision(),
        }];
        assert!(store.create(key("b"), pod("b", 1), &observed).is_ok());
        let exists = store.create(key("b"), pod("b", 1), &observed);
        assert!(matches!(exists, Err(CreateConflict::Exists(_))));
        let expected = Expected::At(first.revision());
        store.put(key("a"), expected, pod("a", 2)).unwrap();
        let outdated = store.create(key("c"), pod("c", 1), &observed);
        assert!(matches!(outdated, Err(CreateConflict::Outdated(_))));
        assert!(store.get(&key("c")).is_none());
    }

    #[test]
    fn fork_shares_no_later_writes() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let fork = store.fork();
        fork.put(key("b"), Expected::Absent, pod("b", 1)).unwrap();
        store.put(key("c"), Expected::Absent, pod("c", 1)).unwrap();
        assert_eq!(names(&fork.snapshot()), ["a", "b"]);
        assert_eq!(names(&store.snapshot()), ["a", "c"]);
    }

    #[test]
    fn past_states_are_read_as_far_as_the_log_reaches() {
        let store = Store::new(2);
        for name in ["a", "b"] {
            store
                .put(key(name), Expected::Absent, pod(name, 1))
                .unwrap();
        }
        store.remove(key("a"), Revision::new(1)).unwrap();
        let past = store.snapshot_at(Revision::new(2)).unwrap();
        assert_eq!(names(&past), ["a", "b"]);
        assert_eq!(names(&store.snapshot_at(Revision::new(1)).unwrap()), ["a"]);
        assert!(store.snapshot_at(Revision::new(0)).is_err());
    }

    #[test]
    fn list_of_a_namespace_has_no_objects_of_others() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let other = Key::new("pods", Some("ns2"), "z");
        store.put(other, Expected::Absent, pod("z", 1)).unwrap();
        assert_eq!(store.list("pods", Some("ns")).len(), 1);
        assert_eq!(store.list("pods", None).len(), 2);
        assert_eq!(store.list("pod", None).len(), 0);
    }
}
