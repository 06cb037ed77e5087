//! The current roles and bindings, kept until one of them changes.

use std::fmt;
use std::sync::Arc;

use kubewright_kinds::groups::RBAC;
use parking_lot::Mutex;

use super::rbac::Rbac;
use crate::store::{Changes, Store};

/// The stored roles and bindings, read again only after one of them has changed.
pub(super) struct RbacCache {
    store: Store,
    latest: Mutex<Latest>,
}

struct Latest {
    rbac: Arc<Rbac>,
    /// The writes since they were read.
    changes: Changes,
}

impl RbacCache {
    /// Reads the roles and bindings of a store.
    pub(super) fn new(store: Store) -> Self {
        let latest = Mutex::new(Latest::read(&store));
        Self { store, latest }
    }

    /// The roles and bindings as of the last write.
    pub(super) fn current(&self) -> Arc<Rbac> {
        let mut latest = self.latest.lock();
        if latest.is_outdated() {
            *latest = Latest::read(&self.store);
        }
        Arc::clone(&latest.rbac)
    }
}

impl Latest {
    fn read(store: &Store) -> Self {
        let snapshot = store.snapshot();
        let mut rbac = Rbac::default();
        for kind in Rbac::KINDS {
            for object in snapshot.list(kind.resource_id(), None) {
                rbac.add(kind, object.value());
            }
        }
        Self {
            rbac: Arc::new(rbac),
            changes: store.watch_from(snapshot.revision()),
        }
    }

    /// Whether a role or binding was written since. Also true when the log no longer holds all
    /// writes.
    fn is_outdated(&mut self) -> bool {
        loop {
            let Ok(changes) = self.changes.now() else {
                return true;
            };
            if changes.is_empty() {
                return false;
            }
            let mut keys = changes.iter().map(|change| &change.key);
            if keys.any(|key| key.resource().ends_with(RBAC)) {
                return true;
            }
        }
    }
}

impl fmt::Debug for RbacCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RbacCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::RbacCache;
    use crate::store::{Expected, Key, Store};

    #[test]
    fn roles_are_read_again_only_after_a_role_or_binding_changes() {
        let store = Store::new(100);
        let cache = RbacCache::new(store.clone());
        let first = cache.current();
        let pod = Key::new("pods", Some("web"), "a");
        store.put(pod, Expected::Absent, json!({})).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.current()));
        let role = Key::new("clusterroles.rbac.authorization.k8s.io", None, "r");
        store
            .put(role, Expected::Absent, json!({"metadata": {"name": "r"}}))
            .unwrap();
        let second = cache.current();
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &cache.current()));
    }
}
