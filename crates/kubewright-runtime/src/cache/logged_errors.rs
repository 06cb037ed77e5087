//! Remembers which errors were logged.

use std::collections::HashMap;

use kubewright_core::ObjectKey;

/// Below this number of entries the store is not consulted.
const MIN_CAPACITY: usize = 64;

/// The resourceVersions whose errors were logged, so that each is logged once.
///
/// There are at most about twice as many entries as undecodable objects in the store.
#[derive(Debug)]
pub(super) struct LoggedErrors {
    logged: HashMap<ObjectKey, Box<str>>,
    /// The number of entries at which objects that no longer exist are removed.
    capacity: usize,
}

impl Default for LoggedErrors {
    fn default() -> Self {
        Self {
            logged: HashMap::new(),
            capacity: MIN_CAPACITY,
        }
    }
}

impl LoggedErrors {
    /// Records an error and returns whether it is new. `exists` is whether the store still contains
    /// an object.
    pub(super) fn insert(
        &mut self,
        key: &ObjectKey,
        resource_version: &str,
        exists: impl Fn(&ObjectKey) -> bool,
    ) -> bool {
        let logged = self.logged.get(key);
        if logged.is_some_and(|logged| **logged == *resource_version) {
            return false;
        }
        if self.logged.len() >= self.capacity {
            self.logged.retain(|key, _| exists(key));
            self.capacity = MIN_CAPACITY.max(self.logged.len() * 2);
        }
        self.logged.insert(key.clone(), resource_version.into());
        true
    }
}

#[cfg(test)]
mod tests {
    use kubewright_core::ObjectKey;

    use super::{LoggedErrors, MIN_CAPACITY};

    fn key(number: usize) -> ObjectKey {
        ObjectKey::namespaced("shop", &format!("a{number}"))
    }

    #[test]
    fn error_is_new_once_per_revision_of_an_object() {
        let mut errors = LoggedErrors::default();
        let is_new =
            ["1", "1", "2", "2"].map(|revision| errors.insert(&key(0), revision, |_| true));
        assert_eq!(is_new, [true, false, true, false]);
    }

    #[test]
    fn errors_of_deleted_objects_are_forgotten() {
        let mut errors = LoggedErrors::default();
        let exists = |key: &ObjectKey| *key == self::key(0);
        for number in 0..10_000 {
            assert!(errors.insert(&key(number), "1", exists));
            assert!(errors.logged.len() <= MIN_CAPACITY + 1);
        }
        assert!(!errors.insert(&key(0), "1", exists));
    }

    #[test]
    fn errors_of_existing_objects_are_all_remembered() {
        let mut errors = LoggedErrors::default();
        for number in 0..1000 {
            errors.insert(&key(number), "1", |_| true);
        }
        assert!((0..1000).all(|number| !errors.insert(&key(number), "1", |_| true)));
    }
}
