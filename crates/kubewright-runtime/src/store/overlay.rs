//! The layer of a store that holds the responses to own writes.

use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::{ObjectKey, Revision};
use kubewright_wire::record::Record;

use super::base::Base;
use super::index::Indexes;

/// Responses to own writes that the base does not show yet. Cloning copies a few pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    pub(super) entries: OrdMap<ObjectKey, Entry>,
    pub(super) indexes: Indexes,
}

#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// The object as the server returned it, newer than the base.
    Written { record: Record, revision: Revision },
    /// After the write the object no longer matches the store's filter.
    Hidden { revision: Revision },
    /// The object with this uid was deleted, and `last` is the last revision of it that this
    /// process saw. A base that has reached that revision and does not contain the object has
    /// received its deletion.
    Deleted { uid: Arc<str>, last: Revision },
}

impl Entry {
    /// The record that a reader sees in place of `base`.
    pub(super) fn over<'a>(&'a self, base: Option<&'a Record>) -> Option<&'a Record> {
        match self {
            Self::Written { record, .. } => Some(record),
            Self::Hidden { .. } => None,
            Self::Deleted { uid, last } => base.filter(|record| is_successor(record, uid, *last)),
        }
    }
}

/// Whether the object was created after the deleted object of the same name. It is neither that
/// object nor a predecessor of it.
fn is_successor(record: &Record, deleted: &str, last: Revision) -> bool {
    record.uid() != deleted && record.revision() > Some(last)
}

impl Overlay {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Records the response to a write; `is_visible` is whether the filter matches it.
    pub(super) fn write(
        &mut self,
        key: ObjectKey,
        record: Record,
        revision: Revision,
        is_visible: bool,
    ) {
        let is_obsolete = self.entries.get(&key).is_some_and(|entry| match entry {
            Entry::Deleted { uid, last } => record.uid() == &**uid || revision <= *last,
            Entry::Written {
                revision: present, ..
            }
            | Entry::Hidden { revision: present } => revision <= *present,
        });
        if is_obsolete {
            return;
        }
        let entry = if is_visible {
            Entry::Written { record, revision }
        } else {
            Entry::Hidden { revision }
        };
        self.set(key, entry);
    }

    /// Records the deletion of the object with this uid.
    pub(super) fn delete(&mut self, key: ObjectKey, uid: &str, base: &Base) {
        let known = base
            .objects
            .get(&key)
            .filter(|record| record.uid() == uid)
            .and_then(Record::revision);
        let last = match self.entries.get(&key) {
            Some(Entry::Written { record, revision }) if record.uid() == uid => Some(*revision),
            // The name already belongs to a later object.
            Some(Entry::Written { .. }) => None,
            // A hidden entry does not say which object it is; the base does.
            Some(Entry::Hidden { revision }) => known.map(|_| *revision),
            // A later object of this name was deleted before, so this one no longer exists either.
            Some(Entry::Deleted { last, .. }) => known.filter(|known| known > last),
            None => known,
        };
        // An object that this process never saw, or whose deletion the watch delivered before the
        // response, is not visible and needs no entry.
        if let Some(last) = last {
            let uid = uid.into();
            self.set(key, Entry::Deleted { uid, last });
        }
    }

    /// Removes the entries that the base has caught up with.
    pub(super) fn settle(&mut self, base: &Base) {
        if self.is_empty() {
            return;
        }
        let is_settled = |key: &ObjectKey, entry: &Entry| {
            // Where revisions cannot be compared, an entry would otherwise stay forever.
            let Some(reached) = base.revision_at(key) else {
                return true;
            };
            match entry {
                Entry::Written { revision, .. } | Entry::Hidden { revision } => {
                    *revision <= reached
                }
                Entry::Deleted { uid, last } => match base.objects.get(key) {
                    Some(record) => is_successor(record, uid, *last),
                    None => *last <= reached,
                },
            }
        };
        let settled: Vec<ObjectKey> = self
            .entries
            .iter()
            .filter(|(key, entry)| is_settled(key, entry))
            .map(|(key, _)| key.clone())
            .collect();
        for key in settled {
            self.unset(&key);
        }
    }

    /// Removes the entries of a namespace that is no longer read.
    pub(super) fn remove_namespace(&mut self, namespace: &str) {
        let removed: Vec<ObjectKey> = self
            .entries
            .keys()
            .filter(|key| key.namespace() == Some(namespace))
            .cloned()
            .collect();
        for key in removed {
            self.unset(&key);
        }
    }

    /// The records of the written objects.
    pub(super) fn written(&self) -> impl Iterator<Item = (&ObjectKey, &Record)> {
        self.entries.iter().filter_map(|(key, entry)| match entry {
            Entry::Written { record, .. } => Some((key, record)),
            Entry::Hidden { .. } | Entry::Deleted { .. } => None,
        })
    }

    fn set(&mut self, key: ObjectKey, entry: Entry) {
        self.unset(&key);
        if let Entry::Written { record, .. } = &entry {
            self.indexes.insert(&key, record);
        }
        self.entries.insert(key, entry);
    }

    fn unset(&mut self, key: &ObjectKey) {
        if let Some(Entry::Written { record, .. }) = self.entries.remove(key) {
            self.indexes.remove(key, &record);
        }
    }
}
