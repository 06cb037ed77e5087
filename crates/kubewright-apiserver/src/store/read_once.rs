use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, Weak};

use kubewright_core::Revision;
use parking_lot::Mutex;

use super::Object;

/// By the revision, each with the object that it is of.
type Read<T> = BTreeMap<Revision, (Weak<Object>, Arc<T>)>;

/// What was read of stored objects. What is of objects that are gone is let go when a new one is
/// read.
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
    /// What an object says, read unless it is known.
    pub(crate) fn get(&self, object: &Arc<Object>, read: impl FnOnce(&Object) -> T) -> Arc<T> {
        let mut known = self.read.lock();
        if let Some((of, value)) = known.get(&object.revision())
            && ptr::eq(of.as_ptr(), Arc::as_ptr(object))
        {
            return Arc::clone(value);
        }
        known.retain(|_, (of, _)| of.strong_count() > 0);
        let value = Arc::new(read(object));
        let entry = (Arc::downgrade(object), Arc::clone(&value));
        known.insert(object.revision(), entry);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(revision: u64) -> Arc<Object> {
        let value = serde_json::json!({"metadata": {"name": "a"}});
        Arc::new(Object::new(value, Revision::new(revision)))
    }

    #[test]
    fn an_object_is_read_once_and_forgotten_after_it_is_gone() {
        let known = ReadOnce::default();
        let (first, second) = (object(1), object(2));
        assert_eq!(*known.get(&first, |_| "first"), "first");
        assert_eq!(*known.get(&first, |_| "again"), "first");
        drop(first);
        assert_eq!(*known.get(&second, |_| "second"), "second");
        assert_eq!(known.read.lock().len(), 1);
    }
}
