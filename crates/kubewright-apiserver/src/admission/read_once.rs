use std::collections::BTreeMap;
use std::sync::Arc;

use kubewright_core::Revision;
use parking_lot::Mutex;

use crate::store::Object;

/// By resource and name.
type Read<T> = BTreeMap<(&'static str, String), (Revision, Arc<T>)>;

/// What was read of stored objects, each as it is at a revision.
#[derive(Debug)]
pub(crate) struct ReadOnce<T> {
    read: Mutex<Read<T>>,
}

impl<T> Default for ReadOnce<T> {
    fn default() -> Self {
        Self {
            read: Mutex::default(),
        }
    }
}

impl<T> ReadOnce<T> {
    /// What an object of a resource says, read unless it is known.
    pub(super) fn get(
        &self,
        resource: &'static str,
        object: &Object,
        read: impl FnOnce(&Object) -> T,
    ) -> Arc<T> {
        let key = (resource, object.name().to_owned());
        let mut known = self.read.lock();
        if let Some((revision, value)) = known.get(&key)
            && *revision == object.revision()
        {
            return Arc::clone(value);
        }
        let value = Arc::new(read(object));
        known.insert(key, (object.revision(), Arc::clone(&value)));
        value
    }
}
