//! What a write is for: a kind, and the store that caches its objects.

use kubewright_core::{ObjectKey, Resource};
use kubewright_wire::record::Record;

use super::deletion::is_removed;
use crate::store::Store;

/// The kind of a written object, and the store that caches it, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The kind.
    pub resource: &'a Resource,
    /// The store of the kind's objects. It receives the responses to writes.
    pub store: Option<&'a Store>,
}

impl Target<'_> {
    /// Adds the response to a patch to the store. The API server responds with the object that it
    /// has just removed if the patch removed the last finalizer.
    pub(super) fn note_patched(&self, key: &ObjectKey, record: &Record) {
        let Some(store) = self.store else {
            return;
        };
        if is_removed(record) {
            store.note_delete(key.clone(), record.uid());
        } else {
            store.note_write(key.clone(), record.clone());
        }
    }
}
