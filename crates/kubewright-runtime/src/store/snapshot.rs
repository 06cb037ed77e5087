//! An immutable state of a store.

use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::ObjectKey;
use kubewright_wire::record::Record;

use super::UnknownIndex;
use super::layers::{Iter, Layers};

/// The objects of a store at one moment, own writes included. Clones share all objects.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    layers: Arc<Layers>,
}

impl Snapshot {
    pub(super) fn new(layers: Arc<Layers>) -> Self {
        Self { layers }
    }

    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Record> {
        self.layers.get(key)
    }

    /// The objects that have an owner with this uid, in key order.
    pub fn by_owner(&self, uid: &str) -> Vec<(ObjectKey, Record)> {
        self.layers.by_owner(uid)
    }

    /// The objects that have the value in the index with this name, in key order.
    pub fn by_index(
        &self,
        name: &str,
        value: &str,
    ) -> Result<Vec<(ObjectKey, Record)>, UnknownIndex> {
        self.layers.by_index(name, value)
    }

    /// All objects, in key order.
    pub fn iter(&self) -> Iter<'_> {
        Iter::new(&self.layers)
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        let overlay = &self.layers.overlay.entries;
        let objects = &self.layers.base.objects;
        let mut length = objects.len();
        for (key, entry) in overlay {
            let base = objects.get(key);
            length += usize::from(entry.over(base).is_some());
            length -= usize::from(base.is_some());
        }
        length
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects that list and watch have delivered, without own writes.
    pub(crate) fn delivered(&self) -> &OrdMap<ObjectKey, Record> {
        &self.layers.base.objects
    }
}

impl<'a> IntoIterator for &'a Snapshot {
    type Item = (&'a ObjectKey, &'a Record);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
