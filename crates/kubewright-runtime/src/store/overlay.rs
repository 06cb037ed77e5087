use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::{ObjectKey, Revision};
use kubewright_wire::record::Record;

use super::base::Base;
use super::index::Indexes;

/// Answers to own writes that the base does not show yet. Cloning costs a few pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    pub(super) entries: OrdMap<ObjectKey, Entry>,
    pub(super) indexes: Indexes,
}

#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// The object as the server answered it, newer than anything in the base.
    Written { record: Record, revision: Revision },
    /// Written such that it no longer matches the store's filter.
    Hidden { revision: Revision },
    /// The object of this uid is dead, and this was the last version that anybody here saw: a
    /// base that has come so far and does not hold it has seen its end.
    Deleted { uid: Arc<str>, last: Revision },
}

impl Entry {
    /// What a reader sees instead of `base`.
    pub(super) fn over<'a>(&'a self, base: Option<&'a Record>) -> Option<&'a Record> {
        match self {
            Self::Written { record, .. } => Some(record),
            Self::Hidden { .. } => None,
            Self::Deleted { uid, last } => base.filter(|record| succeeds(record, uid, *last)),
        }
    }
}

/// Whether the object came after the deleted one of the same name: not it, and not one that was
/// there before it.
fn succeeds(record: &Record, deleted: &str, last: Revision) -> bool {
    record.uid() != deleted && record.revision() > Some(last)
}

impl Overlay {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Notes the answer to a write; `visible` says whether the filter matches it.
    pub(super) fn write(
        &mut self,
        key: ObjectKey,
        record: Record,
        revision: Revision,
        visible: bool,
    ) {
        let obsolete = self.entries.get(&key).is_some_and(|entry| match entry {
            Entry::Deleted { uid, last } => record.uid() == &**uid || revision <= *last,
            Entry::Written {
                revision: present, ..
            }
            | Entry::Hidden { revision: present } => revision <= *present,
        });
        if obsolete {
            return;
        }
        let entry = if visible {
            Entry::Written { record, revision }
        } else {
            Entry::Hidden { revision }
        };
        self.set(key, entry);
    }

    /// Notes that the object of this uid was deleted.
    pub(super) fn delete(&mut self, key: ObjectKey, uid: &str, base: &Base) {
        let known = base.objects.get(&key).filter(|record| record.uid() == uid);
        let known = known.and_then(Record::revision);
        let last = match self.entries.get(&key) {
            Some(Entry::Written { record, revision }) if record.uid() == uid => Some(*revision),
            // The name belongs to a later object already.
            Some(Entry::Written { .. }) => None,
            // Whose state was hidden is not known: what the base holds is.
            Some(Entry::Hidden { revision }) => known.map(|_| *revision),
            // A later one of the same name is dead already, and with it this one.
            Some(Entry::Deleted { last, .. }) => known.filter(|known| known > last),
            None => known,
        };
        // Of an object that nobody here has seen, or whose end was seen before the answer came,
        // nothing is shown that would have to be hidden.
        if let Some(last) = last {
            let uid = uid.into();
            self.set(key, Entry::Deleted { uid, last });
        }
    }

    /// Forgets what the base shows by now.
    pub(super) fn settle(&mut self, base: &Base) {
        if self.is_empty() {
            return;
        }
        let settled = |key: &ObjectKey, entry: &Entry| {
            // Revisions that cannot be compared settle nothing, and nothing is kept for ever.
            let Some(reached) = base.revision_at(key) else {
                return true;
            };
            match entry {
                Entry::Written { revision, .. } | Entry::Hidden { revision } => {
                    *revision <= reached
                }
                Entry::Deleted { uid, last } => match base.objects.get(key) {
                    Some(record) => succeeds(record, uid, *last),
                    None => *last <= reached,
                },
            }
        };
        let settled: Vec<ObjectKey> = self
            .entries
            .iter()
            .filter(|(key, entry)| settled(key, entry))
            .map(|(key, _)| key.clone())
            .collect();
        for key in settled {
            self.unset(&key);
        }
    }

    /// Forgets what was written in a namespace that is not read any more.
    pub(super) fn leave(&mut self, part: &str) {
        let keys = self.entries.keys();
        let left = keys.filter(|key| key.namespace() == Some(part));
        let left: Vec<ObjectKey> = left.cloned().collect();
        for key in left {
            self.unset(&key);
        }
    }

    /// The records of the entries that have one.
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
