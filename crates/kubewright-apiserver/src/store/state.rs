use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::Revision;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use super::changes::Batch;
#[cfg(feature = "disk")]
use super::disk::{Disk, DiskError};
#[cfg(feature = "disk")]
use super::disk_writer::DiskWriter;
use super::expected::{Expected, NotStored, Race, Seen};
use super::followers::Followers;
use super::log::Log;
use super::{Change, ChangeKind, Changes, Compacted, History, Key, Object, Snapshot};

/// The objects of a cluster. Clones share them; [`Store::fork`] parts from them.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    state: Arc<Mutex<State>>,
    followers: Arc<Followers>,
    /// Writes changes to a disk, where there is one.
    #[cfg(feature = "disk")]
    disk: Option<DiskWriter>,
}

#[derive(Clone)]
pub(super) struct State {
    objects: OrdMap<Key, Arc<Object>>,
    revision: Revision,
    /// The last write to each resource.
    latest: OrdMap<Arc<str>, Revision>,
    log: Log,
}

impl Store {
    /// An empty store whose log reaches back as far as `history` says.
    pub fn new(history: impl Into<History>) -> Self {
        Self::with_state(State {
            objects: OrdMap::new(),
            revision: Revision::default(),
            latest: OrdMap::new(),
            log: Log::new(history.into()),
        })
    }

    /// A store with the same objects and the same history that goes its own way from here.
    ///
    /// Costs the same whatever is stored. Those who follow this store do not follow the other.
    #[must_use]
    pub fn fork(&self) -> Self {
        let state = self.shared.state.lock().clone();
        Self::with_state(state)
    }

    fn with_state(state: State) -> Self {
        Self {
            shared: Arc::new(Shared {
                followers: Arc::new(Followers::new(state.revision)),
                state: Arc::new(Mutex::new(state)),
                #[cfg(feature = "disk")]
                disk: None,
            }),
        }
    }

    /// The store that is kept on a disk; its history begins with what is there.
    #[cfg(feature = "disk")]
    pub(crate) fn on_disk(mut disk: Disk, history: History) -> Result<Self, DiskError> {
        let kept = disk.load()?;
        let mut latest = OrdMap::new();
        for key in kept.objects.keys() {
            latest.insert(Arc::from(key.resource()), kept.revision);
        }
        let followers = Arc::new(Followers::new(kept.revision));
        let state = Arc::new(Mutex::new(State {
            objects: kept.objects,
            revision: kept.revision,
            latest,
            log: Log::starting_at(kept.revision, history),
        }));
        let writer = DiskWriter::start(
            disk,
            kept.revision,
            Arc::clone(&state),
            Arc::clone(&followers),
        )?;
        Ok(Self {
            shared: Arc::new(Shared {
                state,
                followers,
                disk: Some(writer),
            }),
        })
    }

    /// Waits until everything that is stored now would survive the end of the process; at once
    /// where nothing is kept. Fails with the reason when changes were lost since there were that
    /// many losses.
    #[cfg(feature = "disk")]
    pub(crate) async fn settled(&self, losses: u64) -> Result<(), Arc<str>> {
        match &self.shared.disk {
            None => Ok(()),
            Some(disk) => disk.until(self.revision(), losses).await,
        }
    }

    /// How often changes were lost that were stored and could not be kept.
    #[cfg(feature = "disk")]
    pub(crate) fn losses(&self) -> u64 {
        self.shared.disk.as_ref().map_or(0, DiskWriter::losses)
    }

    /// Why nothing can be stored now.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.shared.disk {
            return disk.failure();
        }
        None
    }

    /// The revision of the last write.
    pub fn revision(&self) -> Revision {
        self.shared.state.lock().revision
    }

    /// Changes at each stored write.
    pub fn revisions(&self) -> watch::Receiver<Revision> {
        self.shared.followers.of_all()
    }

    /// Everything as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let state = self.shared.state.lock();
        Snapshot {
            objects: state.objects.clone(),
            revision: state.revision,
            latest: state.latest.clone(),
        }
    }

    /// Everything as it was at `revision`; the log must reach back that far.
    pub fn snapshot_at(&self, revision: Revision) -> Result<Snapshot, Compacted> {
        let state = self.shared.state.lock().clone();
        let mut objects = state.objects;
        let undone: Vec<_> = state.log.since(revision, None)?.collect();
        for change in undone.into_iter().rev() {
            match &change.before {
                Some(before) => objects.insert(change.key.clone(), Arc::clone(before)),
                None => objects.remove(&change.key),
            };
        }
        Ok(Snapshot {
            objects,
            revision,
            latest: state.latest,
        })
    }

    /// The object at that key.
    pub fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.shared.state.lock().objects.get(key).cloned()
    }

    /// The objects of a resource (`deployments.apps`), of one namespace or of all, in key order.
    pub fn list(&self, resource: &str, namespace: Option<&str>) -> Vec<Arc<Object>> {
        let snapshot = self.snapshot();
        snapshot.list(resource, namespace).cloned().collect()
    }

    /// Follows all writes after `from`.
    pub fn watch_from(&self, from: Revision) -> Changes {
        Changes::new(self.clone(), None, from, self.revisions())
    }

    /// Follows the writes to one resource after `from`.
    pub fn watch_resource_from(&self, resource: &str, from: Revision) -> Changes {
        let resource: Arc<str> = resource.into();
        let wake = self.shared.followers.of(&resource);
        Changes::new(self.clone(), Some(resource), from, wake)
    }

    /// Stores `value` under `key` and gives it the next revision. A value that equals the stored
    /// one changes nothing and keeps its revision.
    pub fn put(&self, key: Key, expected: Expected, value: Value) -> Result<Arc<Object>, Race> {
        self.put_locked(self.shared.state.lock(), key, expected, value)
    }

    /// As on a server that has just started, nobody can follow what was before.
    pub(crate) fn start_history(&self) {
        let mut state = self.shared.state.lock();
        let revision = state.revision;
        state.log.start_at(revision);
    }

    /// Stores a new object, if all that its writer decided by is still as he saw it.
    pub(crate) fn create(
        &self,
        key: Key,
        value: Value,
        decided_by: &[Seen],
    ) -> Result<Arc<Object>, NotStored> {
        let state = self.shared.state.lock();
        let is_so = |seen: &Seen| {
            let current = state.objects.get(&seen.key);
            current.is_some_and(|object| object.revision() == seen.revision)
        };
        if !decided_by.iter().all(is_so) {
            return Err(NotStored::Moved(value));
        }
        if let Some(current) = state.objects.get(&key) {
            return Err(NotStored::Taken(Arc::clone(current)));
        }
        let stored = self.put_locked(state, key, Expected::Absent, value);
        Ok(stored.expect("nothing is there, and nobody else writes meanwhile"))
    }

    fn put_locked(
        &self,
        mut state: parking_lot::MutexGuard<'_, State>,
        key: Key,
        expected: Expected,
        value: Value,
    ) -> Result<Arc<Object>, Race> {
        let before = check(&state, &key, expected)?;
        if let Some(before) = &before
            && same(before.value(), &value)
        {
            return Ok(Arc::clone(before));
        }
        let after = Arc::new(Object::new(value, state.revision.next()));
        state.objects.insert(key.clone(), Arc::clone(&after));
        let kind = match before {
            Some(_) => ChangeKind::Modified,
            None => ChangeKind::Added,
        };
        let change = Change {
            key,
            before,
            after: Arc::clone(&after),
            kind,
        };
        self.record(state, change);
        Ok(after)
    }

    /// Removes the object at `key`; what is returned, and what watches see, is the stored state
    /// with the revision of the removal.
    pub fn remove(&self, key: Key, expected: Revision) -> Result<Arc<Object>, Race> {
        let mut state = self.shared.state.lock();
        let before = check(&state, &key, Expected::At(expected))?;
        let Some(stored) = &before else {
            return Err(Race { current: None });
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
        self.record(state, change);
        Ok(after)
    }

    fn record(&self, mut state: parking_lot::MutexGuard<'_, State>, change: Change) {
        let revision = change.revision();
        let change = Arc::new(change);
        state.revision = revision;
        state.latest.insert(change.key.resource().into(), revision);
        state.log.push(Arc::clone(&change));
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.shared.disk {
            // Under the lock, so that writes come to the disk in their order; followers see them
            // when they are there.
            disk.push(change);
            return;
        }
        drop(state);
        self.shared.followers.announce_one(&change);
    }

    /// The last revision that those who follow may see: what is not kept yet may never have been.
    fn visible(&self, state: &State) -> Revision {
        #[cfg(feature = "disk")]
        if let Some(disk) = &self.shared.disk {
            return disk.settled();
        }
        state.revision
    }

    /// The log entries after `at` that fill a batch, and how far they were read.
    pub(super) fn read_log(
        &self,
        at: Revision,
        resource: Option<&str>,
        mut batch: Batch,
    ) -> Result<(Vec<Arc<Change>>, Revision), Compacted> {
        let state = self.shared.state.lock();
        let visible = self.visible(&state);
        let mut found = Vec::new();
        for change in state.log.since(at, resource)? {
            if change.revision() > visible {
                break;
            }
            if resource.is_some_and(|resource| change.key.resource() != resource) {
                continue;
            }
            found.push(Arc::clone(change));
            if batch.is_filled_by(change) {
                return Ok((found, change.revision()));
            }
        }
        Ok((found, visible.max(at)))
    }
}

#[cfg(feature = "disk")]
impl State {
    /// Takes back the newest changes. Their revisions are not given again, and readers of the log
    /// list again; returns the revision from which they go on.
    pub(super) fn take_back(&mut self, changes: &[Arc<Change>]) -> Revision {
        if changes.is_empty() {
            return self.revision;
        }
        self.revision = self.revision.next();
        for change in changes.iter().rev() {
            match &change.before {
                Some(before) => self.objects.insert(change.key.clone(), Arc::clone(before)),
                None => self.objects.remove(&change.key),
            };
            self.latest
                .insert(change.key.resource().into(), self.revision);
        }
        self.log.restart_at(self.revision);
        self.revision
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.snapshot()).finish()
    }
}

fn check(state: &State, key: &Key, expected: Expected) -> Result<Option<Arc<Object>>, Race> {
    let current = state.objects.get(key).cloned();
    let found = match &current {
        Some(object) => Expected::At(object.revision()),
        None => Expected::Absent,
    };
    if found == expected {
        Ok(current)
    } else {
        Err(Race { current })
    }
}

/// Equal but for the revision, which a new value does not have yet.
fn same(stored: &Value, new: &Value) -> bool {
    let (Some(stored), Some(new)) = (stored.as_object(), new.as_object()) else {
        return stored == new;
    };
    fn members(metadata: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
        let members = metadata.and_then(Value::as_object).into_iter().flatten();
        members.filter(|(name, _)| *name != "resourceVersion")
    }
    stored.len() == new.len()
        && stored.iter().all(|(name, value)| match name.as_str() {
            "metadata" => members(Some(value)).eq(members(new.get(name))),
            _ => new.get(name) == Some(value),
        })
}

#[cfg(test)]
mod tests {
    use kubewright_core::Revision;
    use serde_json::{Value, json};

    use super::{Expected, Key, NotStored, Seen, Store};

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
    fn each_write_gets_the_next_revision_and_a_no_op_gets_none() {
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
        let gone = store.remove(key("a"), second.revision()).unwrap();
        assert_eq!(gone.metadata("resourceVersion"), Some(&json!("3")));
        assert!(store.get(&key("a")).is_none());
    }

    #[test]
    fn a_writer_that_saw_an_older_state_loses() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let race = store
            .put(key("a"), Expected::Absent, pod("a", 2))
            .unwrap_err();
        assert_eq!(race.current.unwrap().value()["phase"], 1);
        assert!(store.remove(key("b"), Revision::new(1)).is_err());
    }

    #[test]
    fn a_new_object_needs_what_it_was_decided_by() {
        let store = Store::new(8);
        let first = store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let seen = [Seen {
            key: key("a"),
            revision: first.revision(),
        }];
        assert!(store.create(key("b"), pod("b", 1), &seen).is_ok());
        let taken = store.create(key("b"), pod("b", 1), &seen);
        assert!(matches!(taken, Err(NotStored::Taken(_))));
        let at = Expected::At(first.revision());
        store.put(key("a"), at, pod("a", 2)).unwrap();
        let moved = store.create(key("c"), pod("c", 1), &seen);
        assert!(matches!(moved, Err(NotStored::Moved(_))));
        assert!(store.get(&key("c")).is_none());
    }

    #[test]
    fn a_fork_goes_its_own_way() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let fork = store.fork();
        fork.put(key("b"), Expected::Absent, pod("b", 1)).unwrap();
        store.put(key("c"), Expected::Absent, pod("c", 1)).unwrap();
        assert_eq!(names(&fork.snapshot()), ["a", "b"]);
        assert_eq!(names(&store.snapshot()), ["a", "c"]);
    }

    #[test]
    fn the_past_can_be_read_as_far_as_the_log_reaches() {
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
    fn a_namespace_is_listed_alone() {
        let store = Store::new(8);
        store.put(key("a"), Expected::Absent, pod("a", 1)).unwrap();
        let other = Key::new("pods", Some("ns2"), "z");
        store.put(other, Expected::Absent, pod("z", 1)).unwrap();
        assert_eq!(store.list("pods", Some("ns")).len(), 1);
        assert_eq!(store.list("pods", None).len(), 2);
        assert_eq!(store.list("pod", None).len(), 0);
    }
}
