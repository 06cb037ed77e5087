//! The two layers of a store, and how reads combine them.

use std::fmt;

use imbl::ordmap;
use kubewright_core::{LabelOperator, LabelSelector, ObjectKey};
use kubewright_wire::record::Record;

use super::UnknownIndex;
use super::base::Base;
use super::index::{Index, label_pair};
use super::overlay::{Entry, Overlay};

/// The delivered objects, and the process's own writes over them.
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
        let is_selected = |record: &Record| selector.matches(|label| record.label(label));
        if let Some(mut found) = self.with_required_label(selector) {
            found.retain(|(_, record)| is_selected(record));
            return found;
        }
        Iter::new(self)
            .filter(|(_, record)| is_selected(record))
            .map(|(key, record)| (key.clone(), record.clone()))
            .collect()
    }

    /// The objects with a label value that the selector requires. None without an index of labels,
    /// or where the selector requires no value.
    fn with_required_label(&self, selector: &LabelSelector) -> Option<Vec<(ObjectKey, Record)>> {
        let base = self.base.indexes.labels.as_ref()?;
        let overlay = self.overlay.indexes.labels.as_ref()?;
        let mut requirements = selector.requirements.iter();
        let (key, values) = requirements.find_map(|requirement| match &requirement.operator {
            LabelOperator::In(values) => Some((&requirement.key, values)),
            _ => None,
        })?;
        let mut found: Vec<_> = values
            .iter()
            .flat_map(|value| self.find(base, overlay, &label_pair(key, value)))
            .collect();
        if values.len() > 1 {
            found.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
        }
        Some(found)
    }

    /// The objects with the value in an index, which has a part in each layer.
    fn find(&self, base: &Index, overlay: &Index, value: &str) -> Vec<(ObjectKey, Record)> {
        let candidates = base.candidates(value);
        if self.overlay.is_empty() {
            return candidates
                .filter(|(_, record)| base.has(record, value))
                .map(|(key, record)| (key.clone(), record.clone()))
                .collect();
        }
        // An own write can hide the record that the base has for the key.
        let current = |key: &ObjectKey| {
            let record = self.get(key).filter(|record| base.has(record, value))?;
            Some((key.clone(), record.clone()))
        };
        let mut keys: Vec<&ObjectKey> = candidates
            .chain(overlay.candidates(value))
            .map(|(key, _)| key)
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().filter_map(current).collect()
    }
}

/// The objects of a [`Snapshot`](super::Snapshot): both layers merged, in key order.
pub struct Iter<'a> {
    base: ordmap::Iter<'a, ObjectKey, Record, imbl::shared_ptr::DefaultSharedPtr>,
    overlay: ordmap::Iter<'a, ObjectKey, Entry, imbl::shared_ptr::DefaultSharedPtr>,
    next_base: Option<(&'a ObjectKey, &'a Record)>,
    next_overlay: Option<(&'a ObjectKey, &'a Entry)>,
    layers: &'a Layers,
}

impl<'a> Iter<'a> {
    pub(super) fn new(layers: &'a Layers) -> Self {
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
            let (key, visible) = match (self.next_base, self.next_overlay) {
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
            if let Some(record) = visible {
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
