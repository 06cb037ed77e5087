//! The layer of a store that list and watch fill.

use std::sync::Arc;

use imbl::OrdMap;
use kubewright_core::{ObjectKey, Revision};
use kubewright_wire::record::Record;

use super::index::Indexes;
use super::{ChangeEvent, Delta};

/// The objects that list and watch have delivered. Cloning copies a few pointers.
///
/// Where the namespaces of a kind are read one by one, each list and each watch covers a single
/// namespace, which the methods take as `namespace`.
#[derive(Clone, Debug, Default)]
pub(super) struct Base {
    pub(super) objects: OrdMap<ObjectKey, Record>,
    pub(super) indexes: Indexes,
    /// The size of all records.
    bytes: usize,
    /// The last resourceVersion that was delivered; empty before the first list.
    resource_version: Arc<str>,
    /// The last resourceVersion of each namespace, where namespaces are read one by one.
    namespace_versions: OrdMap<Arc<str>, Arc<str>>,
}

impl Base {
    pub(super) fn resource_version(&self) -> &str {
        &self.resource_version
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The last delivered revision: zero before the first list, none where resourceVersions are
    /// not numbers.
    pub(super) fn revision(&self) -> Option<Revision> {
        match &*self.resource_version {
            "" => Some(Revision::default()),
            text => text.parse().ok(),
        }
    }

    /// The last delivered revision of the list and watch that cover this key.
    pub(super) fn revision_at(&self, key: &ObjectKey) -> Option<Revision> {
        if self.namespace_versions.is_empty() {
            return self.revision();
        }
        let reached = key
            .namespace()
            .and_then(|namespace| self.namespace_versions.get(namespace));
        match reached {
            None => Some(Revision::default()),
            Some(text) => text.parse().ok(),
        }
    }

    /// Applies an event of a watch and appends the resulting changes to `out`.
    pub(super) fn apply(
        &mut self,
        namespace: Option<&str>,
        delta: Delta,
        out: &mut Vec<ChangeEvent>,
    ) {
        match delta {
            Delta::Applied(record) => {
                self.reach(namespace, record.resource_version());
                self.put(record.key(), record, out);
            }
            Delta::Deleted(record) => {
                self.reach(namespace, record.resource_version());
                self.remove(&record.key(), out);
            }
            Delta::Bookmark(resource_version) => self.reach(namespace, &resource_version),
        }
    }

    /// Fills an empty layer with a list.
    pub(super) fn fill(
        &mut self,
        namespace: Option<&str>,
        list: Vec<Record>,
        resource_version: &str,
    ) {
        self.reach(namespace, resource_version);
        for record in list {
            let key = record.key();
            // A list can contain an object twice if it changed between two pages.
            if let Some(former) = self.objects.insert(key.clone(), record.clone()) {
                self.indexes.remove(&key, &former);
                self.bytes -= former.byte_len();
            }
            self.indexes.insert(&key, &record);
            self.bytes += record.byte_len();
        }
    }

    /// Replaces the objects with a list. The changes are the deletions, then additions and
    /// modifications, each in key order.
    pub(super) fn replace(
        &mut self,
        namespace: Option<&str>,
        list: Vec<Record>,
        resource_version: &str,
        out: &mut Vec<ChangeEvent>,
    ) {
        self.reach(namespace, resource_version);
        let mut listed: Vec<(ObjectKey, Record)> = list
            .into_iter()
            .map(|record| (record.key(), record))
            .collect();
        listed.sort_by(|(left, _), (right, _)| left.cmp(right));
        let deleted: Vec<ObjectKey> = self
            .objects
            .keys()
            .filter(|key| namespace.is_none() || key.namespace() == namespace)
            .filter(|key| {
                listed
                    .binary_search_by(|(other, _)| other.cmp(key))
                    .is_err()
            })
            .cloned()
            .collect();
        for key in deleted {
            self.remove(&key, out);
        }
        for (key, record) in listed {
            self.put(key, record, out);
        }
    }

    /// Removes the objects of a namespace that is no longer read.
    pub(super) fn remove_namespace(&mut self, namespace: &str, out: &mut Vec<ChangeEvent>) {
        self.replace(Some(namespace), Vec::new(), "", out);
        self.namespace_versions.remove(namespace);
    }

    fn reach(&mut self, namespace: Option<&str>, resource_version: &str) {
        if resource_version.is_empty() {
            return;
        }
        if *self.resource_version != *resource_version {
            self.resource_version = resource_version.into();
        }
        if let Some(namespace) = namespace {
            self.namespace_versions
                .insert(namespace.into(), resource_version.into());
        }
    }

    fn put(&mut self, key: ObjectKey, record: Record, out: &mut Vec<ChangeEvent>) {
        let old = self.objects.get(&key).cloned();
        let is_same = |old: &Record| {
            old.uid() == record.uid() && old.resource_version() == record.resource_version()
        };
        if old.as_ref().is_some_and(is_same) {
            return;
        }
        if let Some(old) = &old {
            self.indexes.remove(&key, old);
            self.bytes -= old.byte_len();
        }
        self.indexes.insert(&key, &record);
        self.bytes += record.byte_len();
        self.objects.insert(key.clone(), record.clone());
        out.extend(ChangeEvent::between(key, old, Some(record)));
    }

    fn remove(&mut self, key: &ObjectKey, out: &mut Vec<ChangeEvent>) {
        let Some(old) = self.objects.remove(key) else {
            return;
        };
        self.indexes.remove(key, &old);
        self.bytes -= old.byte_len();
        out.extend(ChangeEvent::between(key.clone(), Some(old), None));
    }
}
