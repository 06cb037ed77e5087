use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::{ObjectKey, Revision};
use kubewright_wire::record::Record;

use super::base::Base;
use super::owners::Owners;

/// Answers to own writes that the base does not show yet. Cloning costs a few pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    pub(super) entries: OrdMap<ObjectKey, Entry>,
    pub(super) owners: Owners,
}

#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// The object as the server answered it, newer than anything in the base.
    Written { record: Record, revision: Revision },
    /// Written such that it no longer matches the store's filter.
    Hidden { revision: Revision },
    /// The object of this uid is dead. Its last version that this process knows of, if any, tells
    /// when the base must have seen its end.
    Deleted {
        uid: Arc<str>,
        last: Option<Revision>,
    },
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

    fn revision(&self) -> Option<Revision> {
        match self {
            Self::Written { revision, .. } | Self::Hidden { revision } => Some(*revision),
            Self::Deleted { .. } => None,
        }
    }
}

/// Whether the object came after the deleted one of the same name: not it, and not one that was
/// there before it.
fn succeeds(record: &Record, deleted: &str, last: Option<Revision>) -> bool {
    record.uid() != deleted && record.revision() >= last
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
            Entry::Deleted { uid, .. } => record.uid() == &**uid,
            other => other.revision() >= Some(revision),
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
        let last = match self.entries.get(&key) {
            Some(Entry::Written { record, revision }) if record.uid() == uid => Some(*revision),
            // The name belongs to a later object already.
            Some(Entry::Written { .. }) => return,
            Some(Entry::Hidden { revision }) => Some(*revision),
            _ => {
                let known = base.objects.get(&key).filter(|record| record.uid() == uid);
                known.and_then(Record::revision)
            }
        };
        let uid = uid.into();
        self.set(key, Entry::Deleted { uid, last });
    }

    /// Forgets what the base shows by now. `complete` says that the base was just listed anew,
    /// so that what is not in it has either ended or not begun.
    pub(super) fn settle(&mut self, base: &Base, complete: bool) {
        if self.is_empty() {
            return;
        }
        let Some(reached) = base.revision() else {
            *self = Self::default();
            return;
        };
        let settled = |key: &ObjectKey, entry: &Entry| match entry {
            Entry::Written { revision, .. } | Entry::Hidden { revision } => *revision <= reached,
            Entry::Deleted { uid, last } => match base.objects.get(key) {
                Some(record) => succeeds(record, uid, *last),
                None => last.map_or(complete, |last| last <= reached),
            },
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

    /// The watch has shown the end of this object.
    pub(super) fn ended(&mut self, key: &ObjectKey, ended: &str) {
        if matches!(self.entries.get(key), Some(Entry::Deleted { uid, .. }) if **uid == *ended) {
            self.unset(key);
        }
    }

    fn set(&mut self, key: ObjectKey, entry: Entry) {
        self.unset(&key);
        if let Entry::Written { record, .. } = &entry {
            self.owners.insert(&key, record);
        }
        self.entries.insert(key, entry);
    }

    fn unset(&mut self, key: &ObjectKey) {
        if let Some(Entry::Written { record, .. }) = self.entries.remove(key) {
            self.owners.remove(key, &record);
        }
    }
}
