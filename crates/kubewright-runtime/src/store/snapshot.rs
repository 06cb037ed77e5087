use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use imbl::ordmap;
use kubewright_core::{LabelOperator, LabelSelector, ObjectKey};
use kubewright_wire::record::Record;

use super::UnknownIndex;
use super::base::Base;
use super::index::{Index, pair};
use super::overlay::{Entry, Overlay};

/// The objects of a store at one moment, own writes included. Cloning shares everything.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub(super) layers: Arc<Layers>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    pub(super) base: Base,
    pub(super) overlay: Overlay,
}

impl Layers {
    pub(super) fn get(&self, key: &ObjectKey) -> Option<&Record> {
        let base = self.base.objects.get(key);
        match self.overlay.entries.get(key) {
            None => base,
            Some(entry) => entry.over(base),
        }
    }

    pub(super) fn by_owner(&self, uid: &str) -> Vec<(ObjectKey, Record)> {
        let (base, overlay) = (&self.base.indexes, &self.overlay.indexes);
        self.find(&base.owners, &overlay.owners, uid)
    }

    pub(super) fn by_index(
        &self,
        name: &str,
        value: &str,
    ) -> Result<Vec<(ObjectKey, Record)>, UnknownIndex> {
        let base = self.base.indexes.named(name)?;
        let overlay = self.overlay.indexes.named(name)?;
        Ok(self.find(base, overlay, value))
    }

    pub(super) fn matching(&self, selector: &LabelSelector) -> Vec<(ObjectKey, Record)> {
        let is_meant = |record: &Record| selector.matches(|label| record.label(label));
        if let Some(mut found) = self.labelled(selector) {
            found.retain(|(_, record)| is_meant(record));
            return found;
        }
        Iter::over(self)
            .filter(|(_, record)| is_meant(record))
            .map(|(key, record)| (key.clone(), record.clone()))
            .collect()
    }

    /// The objects with a label that the selector asks for, where there is an index of labels.
    fn labelled(&self, selector: &LabelSelector) -> Option<Vec<(ObjectKey, Record)>> {
        let base = self.base.indexes.labels.as_ref()?;
        let overlay = self.overlay.indexes.labels.as_ref()?;
        let mut required = selector.requirements.iter();
        let (key, values) = required.find_map(|one| match &one.operator {
            LabelOperator::In(values) => Some((&one.key, values)),
            _ => None,
        })?;
        let each = values.iter();
        let mut found: Vec<_> = each
            .flat_map(|value| self.find(base, overlay, &pair(key, value)))
            .collect();
        if values.len() > 1 {
            found.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        }
        Some(found)
    }

    /// The objects with the value in one index, of which each layer has its part.
    fn find(&self, base: &Index, overlay: &Index, value: &str) -> Vec<(ObjectKey, Record)> {
        let candidates = base.candidates(value);
        if self.overlay.is_empty() {
            let found = candidates.filter(|(_, record)| base.has(record, value));
            return found
                .map(|(key, record)| (key.clone(), record.clone()))
                .collect();
        }
        // An own write may stand over what the base has under the key.
        let found = |key: &ObjectKey| {
            let record = self.get(key).filter(|record| base.has(record, value))?;
            Some((key.clone(), record.clone()))
        };
        let candidates = candidates.chain(overlay.candidates(value));
        let mut keys: Vec<&ObjectKey> = candidates.map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().filter_map(found).collect()
    }
}

impl Snapshot {
    /// The object of this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Record> {
        self.layers.get(key)
    }

    /// The objects that name the owner with this uid, in key order.
    pub fn by_owner(&self, uid: &str) -> Vec<(ObjectKey, Record)> {
        self.layers.by_owner(uid)
    }

    /// The objects that have the value in the index of this name, in key order.
    pub fn by_index(
        &self,
        name: &str,
        value: &str,
    ) -> Result<Vec<(ObjectKey, Record)>, UnknownIndex> {
        self.layers.by_index(name, value)
    }

    /// All objects, in key order.
    pub fn iter(&self) -> Iter<'_> {
        Iter::over(&self.layers)
    }

    /// How many objects there are.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What list and watch have delivered, without own writes.
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

/// The objects of a [`Snapshot`]: both layers merged, in key order.
pub struct Iter<'a> {
    base: ordmap::Iter<'a, ObjectKey, Record, imbl::shared_ptr::DefaultSharedPtr>,
    overlay: ordmap::Iter<'a, ObjectKey, Entry, imbl::shared_ptr::DefaultSharedPtr>,
    next_base: Option<(&'a ObjectKey, &'a Record)>,
    next_overlay: Option<(&'a ObjectKey, &'a Entry)>,
    layers: &'a Layers,
}

impl<'a> Iter<'a> {
    fn over(layers: &'a Layers) -> Self {
        Self {
            base: layers.base.objects.iter(),
            overlay: layers.overlay.entries.iter(),
            next_base: None,
            next_overlay: None,
            layers,
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a ObjectKey, &'a Record);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.next_base = self.next_base.or_else(|| self.base.next());
            self.next_overlay = self.next_overlay.or_else(|| self.overlay.next());
            let (key, seen) = match (self.next_base, self.next_overlay) {
                (None, None) => return None,
                (Some((key, record)), None) => {
                    self.next_base = None;
                    (key, Some(record))
                }
                (Some((key, record)), Some((over, _))) if key < over => {
                    self.next_base = None;
                    (key, Some(record))
                }
                (base, Some((over, entry))) => {
                    self.next_overlay = None;
                    if base.is_some_and(|(key, _)| key == over) {
                        self.next_base = None;
                    }
                    (over, entry.over(self.layers.base.objects.get(over)))
                }
            };
            if let Some(record) = seen {
                return Some((key, record));
            }
        }
    }
}

impl fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").finish_non_exhaustive()
    }
}
