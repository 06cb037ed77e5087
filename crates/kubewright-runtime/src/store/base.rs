use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::{ObjectKey, Revision};
use kubewright_wire::record::Record;

use super::index::Indexes;
use super::{ChangeEvent, Delta};

/// What list and watch have delivered. Cloning costs a few pointers.
#[derive(Clone, Debug, Default)]
pub(super) struct Base {
    pub(super) objects: OrdMap<ObjectKey, Record>,
    pub(super) indexes: Indexes,
    /// How many bytes the records take.
    bytes: usize,
    /// How far the server's history is known, as the server spells it; empty before the first
    /// list.
    resource_version: Arc<str>,
    /// The same of each namespace, where they are read one by one.
    parts: OrdMap<Arc<str>, Arc<str>>,
}

impl Base {
    pub(super) fn resource_version(&self) -> &str {
        &self.resource_version
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How far the server's history is known: zero before the first list, none where revisions
    /// are not numbers.
    pub(super) fn revision(&self) -> Option<Revision> {
        match &*self.resource_version {
            "" => Some(Revision::default()),
            text => text.parse().ok(),
        }
    }

    /// As [`Base::revision`], of the history that an object of this key has part in.
    pub(super) fn revision_at(&self, key: &ObjectKey) -> Option<Revision> {
        if self.parts.is_empty() {
            return self.revision();
        }
        let part = key.namespace().and_then(|name| self.parts.get(name));
        match part {
            None => Some(Revision::default()),
            Some(text) => text.parse().ok(),
        }
    }

    /// Takes one delta in, of the namespace `part` where they are read one by one; events go to
    /// `out`.
    pub(super) fn apply(&mut self, part: Option<&str>, delta: Delta, out: &mut Vec<ChangeEvent>) {
        match delta {
            Delta::Applied(record) => {
                self.reach(part, record.resource_version());
                self.put(record.key(), record, out);
            }
            Delta::Deleted(record) => {
                self.reach(part, record.resource_version());
                self.take(&record.key(), out);
            }
            Delta::Bookmark(resource_version) => self.reach(part, &resource_version),
        }
    }

    /// Becomes what a list shows, having been empty.
    pub(super) fn fill(&mut self, part: Option<&str>, list: Vec<Record>, resource_version: &str) {
        self.reach(part, resource_version);
        for record in list {
            let key = record.key();
            // A list may show an object twice, where it was changed between two pages.
            if let Some(former) = self.objects.insert(key.clone(), record.clone()) {
                self.indexes.remove(&key, &former);
                self.bytes -= former.byte_len();
            }
            self.indexes.insert(&key, &record);
            self.bytes += record.byte_len();
        }
    }

    /// Becomes what a list shows, of the namespace `part` where they are read one by one: first
    /// what is gone, then what is new or changed, each in key order.
    pub(super) fn replace(
        &mut self,
        part: Option<&str>,
        list: Vec<Record>,
        resource_version: &str,
        out: &mut Vec<ChangeEvent>,
    ) {
        self.reach(part, resource_version);
        let mut listed: Vec<(ObjectKey, Record)> = list
            .into_iter()
            .map(|record| (record.key(), record))
            .collect();
        listed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let gone: Vec<ObjectKey> = self
            .objects
            .keys()
            .filter(|key| part.is_none() || key.namespace() == part)
            .filter(|key| {
                listed
                    .binary_search_by(|(other, _)| other.cmp(key))
                    .is_err()
            })
            .cloned()
            .collect();
        for key in gone {
            self.take(&key, out);
        }
        for (key, record) in listed {
            self.put(key, record, out);
        }
    }

    /// Forgets a namespace that is not read any more.
    pub(super) fn leave(&mut self, part: &str, out: &mut Vec<ChangeEvent>) {
        self.replace(Some(part), Vec::new(), "", out);
        self.parts.remove(part);
    }

    fn reach(&mut self, part: Option<&str>, resource_version: &str) {
        if resource_version.is_empty() {
            return;
        }
        if *self.resource_version != *resource_version {
            self.resource_version = resource_version.into();
        }
        if let Some(part) = part {
            self.parts.insert(part.into(), resource_version.into());
        }
    }

    fn put(&mut self, key: ObjectKey, record: Record, out: &mut Vec<ChangeEvent>) {
        let old = self.objects.get(&key).cloned();
        let same = |old: &Record| {
            old.uid() == record.uid() && old.resource_version() == record.resource_version()
        };
        if old.as_ref().is_some_and(same) {
            return;
        }
        if let Some(old) = &old {
            self.indexes.remove(&key, old);
            self.bytes -= old.byte_len();
        }
        self.indexes.insert(&key, &record);
        self.bytes += record.byte_len();
        self.objects.insert(key.clone(), record.clone());
        out.extend(changes(key, old, Some(record)));
    }

    fn take(&mut self, key: &ObjectKey, out: &mut Vec<ChangeEvent>) {
        let Some(old) = self.objects.remove(key) else {
            return;
        };
        self.indexes.remove(key, &old);
        self.bytes -= old.byte_len();
        out.extend(changes(key.clone(), Some(old), None));
    }
}

/// One event; two where the name now belongs to another object: the old one is gone, then the
/// new one is there.
pub(crate) fn changes(
    key: ObjectKey,
    old: Option<Record>,
    new: Option<Record>,
) -> impl Iterator<Item = ChangeEvent> {
    let event = |key, old, new| ChangeEvent {
        key,
        old,
        new,
        is_initial: false,
    };
    let (first, second) = match (old, new) {
        (Some(old), Some(new)) if old.uid() != new.uid() => (
            Some(event(key.clone(), Some(old), None)),
            Some(event(key, None, Some(new))),
        ),
        (None, None) => (None, None),
        (old, new) => (Some(event(key, old, new)), None),
    };
    first.into_iter().chain(second)
}
