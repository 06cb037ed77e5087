use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use kubewright_core::{LabelSelector, ObjectKey, Revision};
use kubewright_wire::record::Record;
use parking_lot::Mutex;

use super::snapshot::{Layers, Snapshot};
use super::{ChangeEvent, Delta, Filter, IndexFunction, UnknownIndex};

/// The objects of one kind. Cloning shares them.
///
/// Reads never wait, neither for a writer nor for each other: they load the present layers, which
/// are immutable. Writers (the informer, and whoever notes a write) take turns.
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
    shared: Arc<Shared>,
}

struct Shared {
    layers: ArcSwap<Layers>,
    filter: Filter,
    shape: Option<Shape>,
    /// Held while new layers are made from the present ones.
    writing: Mutex<()>,
    said_off: AtomicBool,
}

/// What is kept of the answer to a write, so that it is as a watch would bring it; none where
/// nothing can be.
pub(crate) type Shape = Arc<dyn Fn(&Record) -> Option<Record> + Send + Sync>;

/// What became of a store that took in a list.
#[derive(Clone, Debug)]
pub enum Replaced {
    /// The store was empty: everything in it is new.
    Filled,
    /// What differs from before: first the objects that are gone.
    Changed(Vec<ChangeEvent>),
}

impl Store {
    /// An empty store for the objects that `filter` lets in.
    pub fn new(filter: Filter) -> Self {
        Self::shaping(filter, None)
    }

    /// One whose objects are changed on the way in.
    pub(crate) fn shaping(filter: Filter, shape: Option<Shape>) -> Self {
        Self {
            shared: Arc::new(Shared {
                layers: ArcSwap::default(),
                filter,
                shape,
                writing: Mutex::new(()),
                said_off: AtomicBool::new(false),
            }),
        }
    }

    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<Record> {
        self.shared.layers.load().get(key).cloned()
    }

    /// The objects that name the owner with this uid, in key order.
    pub fn by_owner(&self, uid: &str) -> Vec<(ObjectKey, Record)> {
        self.shared.layers.load().by_owner(uid)
    }

    /// The objects that have the value in the index of this name, in key order.
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

    /// The objects whose labels match, in key order. Where [`Store::index_labels`] was called, one
    /// that asks for a value of a label looks at no others.
    pub fn matching(&self, labels: &LabelSelector) -> Vec<(ObjectKey, Record)> {
        self.shared.layers.load().matching(labels)
    }

    /// Keeps the objects at hand under each of their labels, for [`Store::matching`]: 48 bytes for
    /// each label of an object.
    pub fn index_labels(&self) {
        self.write(|layers| {
            let Layers { base, overlay } = layers;
            base.indexes.add_labels(base.objects.iter());
            let mut indexes = std::mem::take(&mut overlay.indexes);
            indexes.add_labels(overlay.written());
            overlay.indexes = indexes;
        });
    }

    /// Adds an index, or puts another function in the place of the one of that name. The objects
    /// that are there are in it at once.
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

    /// Removes the index of this name.
    pub fn remove_index(&self, name: &str) {
        self.write(|layers| {
            layers.base.indexes.take_away(name);
            layers.overlay.indexes.take_away(name);
        });
    }

    /// How many bytes the records take that list and watch have delivered.
    pub fn byte_len(&self) -> usize {
        self.shared.layers.load().base.bytes()
    }

    /// How many objects list and watch have delivered.
    pub(crate) fn delivered_count(&self) -> usize {
        self.shared.layers.load().base.objects.len()
    }

    /// How far the server's history is known as a number; none where revisions are none.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.shared.layers.load().base.revision()
    }

    /// All objects at this moment.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            layers: self.shared.layers.load_full(),
        }
    }

    /// The object as list and watch have delivered it, without own writes.
    pub fn delivered(&self, key: &ObjectKey) -> Option<Record> {
        self.shared.layers.load().base.objects.get(key).cloned()
    }

    /// How far the server's history is known; empty before the first list.
    pub fn resource_version(&self) -> String {
        self.shared.layers.load().base.resource_version().to_owned()
    }

    /// Takes in what a watch has said, in its order, and tells what that changed.
    ///
    /// This and [`Store::replace`] are the only doors to what is delivered.
    pub fn apply(&self, deltas: impl IntoIterator<Item = Delta>) -> Vec<ChangeEvent> {
        self.apply_in(None, deltas)
    }

    /// As [`Store::apply`], of one namespace of several that are watched one by one.
    pub(crate) fn apply_in(
        &self,
        part: Option<&str>,
        deltas: impl IntoIterator<Item = Delta>,
    ) -> Vec<ChangeEvent> {
        let mut events = Vec::new();
        self.write(|layers| {
            for delta in deltas {
                layers.base.apply(part, delta, &mut events);
            }
            layers.overlay.settle(&layers.base);
        });
        events
    }

    /// Takes in a whole list that shows the given resourceVersion, and tells what that changed:
    /// also what was deleted while nobody watched.
    pub fn replace(&self, list: Vec<Record>, resource_version: &str) -> Replaced {
        self.replace_in(None, list, resource_version)
    }

    /// As [`Store::replace`], of one namespace of several that are listed one by one.
    pub(crate) fn replace_in(
        &self,
        part: Option<&str>,
        list: Vec<Record>,
        resource_version: &str,
    ) -> Replaced {
        let mut replaced = Replaced::Filled;
        self.write(|layers| {
            if layers.base.objects.is_empty() {
                layers.base.fill(part, list, resource_version);
            } else {
                let mut events = Vec::new();
                let base = &mut layers.base;
                base.replace(part, list, resource_version, &mut events);
                replaced = Replaced::Changed(events);
            }
            layers.overlay.settle(&layers.base);
        });
        replaced
    }

    /// Forgets a namespace that is not read any more, and tells what that changed.
    pub(crate) fn leave(&self, part: &str) -> Vec<ChangeEvent> {
        let mut events = Vec::new();
        self.write(|layers| {
            layers.base.leave(part, &mut events);
            layers.overlay.leave(part);
        });
        events
    }

    /// Notes the server's answer to a write of this process: reads see it from now on, until the
    /// watch has delivered that revision or a later one.
    pub fn note_write(&self, key: ObjectKey, record: Record) {
        if !self.shared.filter.covers(&key) {
            return;
        }
        // The API server selects by what the object was before it is changed.
        let visible = self.shared.filter.matches(&record);
        let kept = match &self.shared.shape {
            Some(shape) => shape(&record),
            None => Some(record),
        };
        let Some(record) = kept else {
            return;
        };
        self.write(|layers| {
            let reached = layers.base.revision_at(&key);
            let (Some(revision), Some(reached)) = (record.revision(), reached) else {
                return self.say_off(&record);
            };
            if revision > reached {
                layers.overlay.write(key, record, revision, visible);
            }
        });
    }

    /// Notes that a write of this process has ended the object of this uid: reads do not see it
    /// any more, even before the watch has told.
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
        let _turn = self.shared.writing.lock();
        let mut layers = Layers::clone(&self.shared.layers.load());
        change(&mut layers);
        self.shared.layers.store(Arc::new(layers));
    }

    fn say_off(&self, record: &Record) {
        if !self.shared.said_off.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                resource_version = record.resource_version(),
                "this server's resourceVersions are not numbers: cached reads show own writes \
                 only once the watch delivers them"
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
    fn a_write_is_shown_until_its_own_namespace_has_come_so_far() {
        let store = Store::new(Filter::default());
        store.replace_in(Some("a"), Vec::new(), "10");
        store.replace_in(Some("b"), vec![record("b", 40)], "50");
        let key = ObjectKey::namespaced("a", "x");
        store.note_write(key.clone(), record("a", 20));
        assert!(store.get(&key).is_some());
        store.apply_in(Some("b"), [Delta::Bookmark("60".to_owned())]);
        assert!(store.get(&key).is_some());
        store.apply_in(Some("a"), [Delta::Bookmark("30".to_owned())]);
        assert!(store.get(&key).is_none(), "it is gone again");
    }

    #[test]
    fn a_list_of_one_namespace_says_nothing_about_others() {
        let store = Store::new(Filter::default());
        store.replace_in(Some("a"), vec![record("a", 5)], "10");
        store.replace_in(Some("b"), vec![record("b", 6)], "10");
        store.replace_in(Some("a"), Vec::new(), "20");
        assert_eq!(store.snapshot().len(), 1);
        assert_eq!(store.leave("b").len(), 1);
        assert!(store.snapshot().is_empty());
    }
}
