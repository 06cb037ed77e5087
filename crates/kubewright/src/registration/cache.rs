use std::fmt;
use std::sync::Arc;

use kubewright_core::ObjectKey;
use kubewright_runtime::cache::{List, View};

use super::AnyKind;

/// The objects of a controller's own kind, for mappers.
pub struct Cache<K> {
    view: View<K>,
}

impl<K: AnyKind> Cache<K> {
    pub(crate) fn new(view: View<K>) -> Self {
        Self { view }
    }

    /// The keys of all objects; nothing is decoded.
    pub fn keys(&self) -> Vec<ObjectKey> {
        let snapshot = self.view.informer().store().snapshot();
        snapshot.iter().map(|(key, _)| key.clone()).collect()
    }

    /// One object; none when it is not there or does not decode.
    pub fn get(&self, key: &ObjectKey) -> Option<Arc<K>> {
        self.view.get(key).ok().flatten()
    }

    /// All objects, decoded as they are walked.
    pub fn list(&self) -> List<K> {
        self.view.list()
    }
}

impl<K> fmt::Debug for Cache<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").finish_non_exhaustive()
    }
}
