//! Values parsed from stored objects, such as compiled policies.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};

use kubewright_core::Revision;
use parking_lot::Mutex;

use super::object::Object;

/// Values by the revision of their object.
type Parsed<T> = BTreeMap<Revision, Entry<T>>;

#[derive(Debug)]
struct Entry<T> {
    of: Weak<Object>,
    /// Set outside the lock of the cache, so that readers of other values do not wait for it.
    value: Arc<OnceLock<Arc<T>>>,
}

/// Values that were parsed from stored objects. Those of removed objects are dropped when a new
/// object is parsed.
#[derive(Debug)]
pub(crate) struct ParsedCache<T> {
    parsed: Mutex<Parsed<T>>,
}

impl<T> Default for ParsedCache<T> {
    fn default() -> Self {
        Self {
            parsed: Mutex::default(),
        }
    }
}

impl<T> ParsedCache<T> {
    /// The value of an object, parsed unless it is in the cache.
    pub(crate) fn get(&self, object: &Arc<Object>, parse: impl FnOnce(&Object) -> T) -> Arc<T> {
        let value = self.entry(object);
        Arc::clone(value.get_or_init(|| Arc::new(parse(object))))
    }

    /// The entry of an object, without a value when it is new.
    fn entry(&self, object: &Arc<Object>) -> Arc<OnceLock<Arc<T>>> {
        let mut parsed = self.parsed.lock();
        if let Some(Entry { of, value }) = parsed.get(&object.revision())
            && ptr::eq(of.as_ptr(), Arc::as_ptr(object))
        {
            return Arc::clone(value);
        }
        parsed.retain(|_, entry| entry.of.strong_count() > 0);
        let value = Arc::default();
        let entry = Entry {
            of: Arc::downgrade(object),
            value: Arc::clone(&value),
        };
        parsed.insert(object.revision(), entry);
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
    fn object_is_parsed_once_and_dropped_after_its_removal() {
        let cache = ParsedCache::default();
        let (first, second) = (object(1), object(2));
        assert_eq!(*cache.get(&first, |_| "first"), "first");
        assert_eq!(*cache.get(&first, |_| "again"), "first");
        drop(first);
        assert_eq!(*cache.get(&second, |_| "second"), "second");
        assert_eq!(cache.parsed.lock().len(), 1);
    }

    #[test]
    fn other_objects_are_parsed_while_one_is() {
        let cache = ParsedCache::default();
        let (outer, inner) = (object(1), object(2));
        let value = cache.get(&outer, |_| {
            format!("{} first", cache.get(&inner, |_| "second".to_owned()))
        });
        assert_eq!(*value, "second first");
    }
}
