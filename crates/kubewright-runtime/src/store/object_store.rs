//! The store: objects of one kind that one informer fills and many readers share.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use kubewright_core::{LabelSelector, ObjectKey, Revision};
use kubewright_wire::record::Record;
use parking_lot::Mutex;

use super::layers::Layers;
use super::{ChangeEvent, Delta, Filter, IndexFunction, Snapshot, UnknownIndex};

/// The objects of one kind. Clones share them.
///
/// Reads never wait, neither for a writer nor for each other: they load the current layers, which
/// are immutable. Writers (the informer, and own writes) exclude each other.
///
/// ```
/// use kubewright_runtime::store::{Delta, Filter, Store};
/// use kubewright_core::ObjectKey;
/// use kubewright_wire::record::Record;
///
/// let store = Store::new(Filter::default());
/// let pod = Record::from_json(br#"{"metadata":{"name":"a","namespace":"shop","resourceVersion":"7"}}"#)?;
/// let events = store.apply([Delta::Applied(pod)]);
/// assert_eq!(events.len(), 1);
/// assert!(store.get(&ObjectKey::namespaced("shop", "a")).is_some());
/// # Ok::<(), kubewright_wire::record::RecordError>(())
/// ```
#[derive(Clone)]
pub struct Store {
    shared: Arc<StoreState>,
}

struct StoreState {
    layers: ArcSwap<Layers>,
    filter: Filter,
    transform: Option<ResponseTransform>,
    /// Held while new layers are made from the current ones.
    writing: Mutex<()>,
    has_warned: AtomicBool,
}

/// Converts the response to a write into the record that a watch would deliver. Returns none where
/// that is not possible.
pub(crate) type ResponseTransform = Arc<dyn Fn(&Record) -> Option<Record> + Send + Sync>;

/// The effect of a list on a store.
#[derive(Clone, Debug)]
pub enum Replaced {
    /// The store was empty: every object in it is new.
    Filled,
    /// The changes, deletions first.
    Changed(Vec<ChangeEvent>),
}

impl Store {
    /// An empty store for the objects that match `filter`.
    pub fn new(filter: Filter) -> Self {
        Self::with_transform(filter, None)
    }

    /// An empty store that transforms the responses to own writes.
    pub(crate) fn with_transform(filter: Filter, transform: Option<ResponseTransform>) -> Self {
        Self {
            shared: Arc::new(StoreState {
                layers: ArcSwap::default(),
                filter,
                transform,
                writing: Mutex::new(()),
                has_warned: AtomicBool::new(false),
            }),
        }
    }

    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<Record> {
        self.shared.layers.load().get(key).cloned()
    }

    /// The objects that have an owner with this uid, in key order.
    pub fn by_owner(&self, uid: &str) -> Vec<(ObjectKey, Record)> {
        self.shared.layers.load().by_owner(uid)
    }

    /// The objects that have the value in the index with this name, in key order.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use kubewright_runtime::store::{Delta, Filter, Store};
    /// use kubewright_wire::record::Record;
    ///
    /// let store = Store::new(Filter::default());
    /// store.add_index("node", Arc::new(|record| {
    ///     record.selectable("spec.nodeName").map(Into::into).into_iter().collect()
    /// }));
    /// let pod = br#"{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"nodeName":"n1"}}"#;
    /// store.apply([Delta::Applied(Record::from_json(pod)?)]);
    /// assert_eq!(store.by_index("node", "n1")?.len(), 1);
    /// store.remove_index("node");
    /// assert!(store.by_index("node", "n1").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_index(
        &self,
        name: &str,
        value: &str,
    ) -> Result<Vec<(ObjectKey, Record)>, UnknownIndex> {
        self.shared.layers.load().by_index(name, value)
    }

    /// The objects whose labels match, in key order. After [`Store::index_labels`], a selector that
    /// requires a label value reads only the objects with that value.
    pub fn matching(&self, labels: &LabelSelector) -> Vec<(ObjectKey, Record)> {
        self.shared.layers.load().matching(labels)
    }

    /// Indexes the objects by their labels, for [`Store::matching`]. This costs 48 bytes for each
    /// label of an object.
    pub fn index_labels(&self) {
        self.write(|layers| {
            let Layers { base, overlay } = layers;
            base.indexes.add_labels(base.objects.iter());
            let mut indexes = std::mem::take(&mut overlay.indexes);
            indexes.add_labels(overlay.written());
            overlay.indexes = indexes;
        });
    }

    /// Adds an index, or replaces the index with that name. Objects that are already in the store
    /// are indexed before the call returns.
    pub fn add_index(&self, name: &str, function: IndexFunction) {
        let name = name.into();
        self.write(|layers| {
            let Layers { base, overlay } = layers;
            base.indexes.add(&name, &function, base.objects.iter());
            let mut indexes = std::mem::take(&mut overlay.indexes);
            indexes.add(&name, &function, overlay.written());
            overlay.indexes = indexes;
        });
    }

    /// Removes the index with this name.
    pub fn remove_index(&self, name: &str) {
        self.write(|layers| {
            layers.base.indexes.remove_named(name);
            layers.overlay.indexes.remove_named(name);
        });
    }

    /// The size of the records that list and watch have delivered, in bytes.
    pub fn byte_len(&self) -> usize {
        self.shared.layers.load().base.bytes()
    }

    /// The number of objects that list and watch have delivered.
    pub(crate) fn delivered_count(&self) -> usize {
        self.shared.layers.load().base.objects.len()
    }

    /// The last delivered revision; none where resourceVersions are not numbers.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.shared.layers.load().base.revision()
    }

    /// All objects at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.shared.layers.load_full())
    }

    /// The object as list and watch have delivered it, without own writes.
    pub fn delivered(&self, key: &ObjectKey) -> Option<Record> {
        self.shared.layers.load().base.objects.get(key).cloned()
    }

    /// The last delivered resourceVersion; empty before the first list.
    pub fn resource_version(&self) -> String {
        self.shared.layers.load().base.resource_version().to_owned()
    }

    /// Applies the events of a watch in order and returns the resulting changes.
    ///
    /// Only this method and [`Store::replace`] change the delivered objects.
    pub fn apply(&self, deltas: impl IntoIterator<Item = Delta>) -> Vec<ChangeEvent> {
        self.apply_in(None, deltas)
    }

    /// Applies events of a watch that covers one namespace, where namespaces are watched one by
    /// one.
    pub(crate) fn apply_in(
        &self,
        namespace: Option<&str>,
        deltas: impl IntoIterator<Item = Delta>,
    ) -> Vec<ChangeEvent> {
        let mut events = Vec::new();
        self.write(|layers| {
            for delta in deltas {
                layers.base.apply(namespace, delta, &mut events);
            }
            layers.overlay.settle(&layers.base);
        });
        events
    }

    /// Replaces the delivered objects with a list at the given resourceVersion and returns the
    /// changes, deletions that no watch delivered included.
    pub fn replace(&self, list: Vec<Record>, resource_version: &str) -> Replaced {
        self.replace_in(None, list, resource_version)
    }

    /// Replaces the objects of one namespace, where namespaces are listed one by one.
    pub(crate) fn replace_in(
        &self,
        namespace: Option<&str>,
        list: Vec<Record>,
        resource_version: &str,
    ) -> Replaced {
        let mut replaced = Replaced::Filled;
        self.write(|layers| {
            if layers.base.objects.is_empty() {
                layers.base.fill(namespace, list, resource_version);
            } else {
                let mut events = Vec::new();
                let base = &mut layers.base;
                base.replace(namespace, list, resource_version, &mut events);
                replaced = Replaced::Changed(events);
            }
            layers.overlay.settle(&layers.base);
        });
        replaced
    }

    /// Removes a namespace that is no longer read and returns the changes.
    pub(crate) fn remove_namespace(&self, namespace: &str) -> Vec<ChangeEvent> {
        let mut events = Vec::new();
        self.write(|layers| {
            layers.base.remove_namespace(namespace, &mut events);
            layers.overlay.remove_namespace(namespace);
        });
        events
    }

    /// Records the response to a write of this process. Reads return it until the watch has
    /// delivered that revision or a later one.
    pub fn note_write(&self, key: ObjectKey, record: Record) {
        if !self.shared.filter.covers(&key) {
            return;
        }
        // The API server selects by the object before it is transformed.
        let is_visible = self.shared.filter.matches(&record);
        let transformed = match &self.shared.transform {
            Some(transform) => transform(&record),
            None => Some(record),
        };
        let Some(record) = transformed else {
            return;
        };
        self.write(|layers| {
            let reached = layers.base.revision_at(&key);
            let (Some(revision), Some(reached)) = (record.revision(), reached) else {
                return self.warn_unordered(&record);
            };
            if revision > reached {
                layers.overlay.write(key, record, revision, is_visible);
            }
        });
    }

    /// Records that a write of this process deleted the object with this uid. Reads no longer
    /// return it, even before the watch delivers the deletion.
    pub fn note_delete(&self, key: ObjectKey, uid: &str) {
        if !self.shared.filter.covers(&key) {
            return;
        }
        self.write(|layers| {
            if layers.base.revision().is_some() {
                layers.overlay.delete(key, uid, &layers.base);
            }
        });
    }

    fn write(&self, change: impl FnOnce(&mut Layers)) {
        let _writing = self.shared.writing.lock();
        let mut layers = Layers::clone(&self.shared.layers.load());
        change(&mut layers);
        self.shared.layers.store(Arc::new(layers));
    }

    fn warn_unordered(&self, record: &Record) {
        if !self.shared.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                resource_version = record.resource_version(),
                "the resourceVersions of this server are not numbers: cached reads return own \
                 writes only after the watch has delivered them"
            );
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("objects", &self.shared.layers.load().base.objects.len())
            .field("filter", &self.shared.filter)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::ObjectKey;
    use kubewright_wire::record::Record;
    use serde_json::json;

    use super::Store;
    use crate::store::{Delta, Filter};

    fn record(namespace: &str, revision: u32) -> Record {
        let object = json!({"metadata": {
            "name": "x", "namespace": namespace, "uid": "1",
            "resourceVersion": revision.to_string(),
        }});
        Record::from_json(object.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn own_write_is_visible_until_the_watch_of_its_namespace_reaches_it() {
        let store = Store::new(Filter::default());
        store.replace_in(Some("a"), Vec::new(), "10");
        store.replace_in(Some("b"), vec![record("b", 40)], "50");
        let key = ObjectKey::namespaced("a", "x");
        store.note_write(key.clone(), record("a", 20));
        assert!(store.get(&key).is_some());
        store.apply_in(Some("b"), [Delta::Bookmark("60".to_owned())]);
        assert!(store.get(&key).is_some());
        store.apply_in(Some("a"), [Delta::Bookmark("30".to_owned())]);
        assert!(
            store.get(&key).is_none(),
            "the watch of its namespace has passed it"
        );
    }

    #[test]
    fn list_of_one_namespace_does_not_delete_objects_of_others() {
        let store = Store::new(Filter::default());
        store.replace_in(Some("a"), vec![record("a", 5)], "10");
        store.replace_in(Some("b"), vec![record("b", 6)], "10");
        store.replace_in(Some("a"), Vec::new(), "20");
        assert_eq!(store.snapshot().len(), 1);
        assert_eq!(store.remove_namespace("b").len(), 1);
        assert!(store.snapshot().is_empty());
    }
}
