use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Policy;
use crate::store::{Changes, Store};

const RESOURCES: [&str; 4] = [
    "roles",
    "clusterroles",
    "rolebindings",
    "clusterrolebindings",
];

/// The policy that the stored roles and bindings make, made again only after one of them changed.
pub(crate) struct Policies {
    store: Store,
    latest: Mutex<Latest>,
}

struct Latest {
    policy: Arc<Policy>,
    /// What was written since the policy was made.
    changes: Changes,
}

impl Policies {
    /// The policy of the given store.
    pub(crate) fn new(store: Store) -> Self {
        let latest = Mutex::new(Latest::read(&store));
        Self { store, latest }
    }

    /// The policy as of the last write.
    pub(crate) fn current(&self) -> Arc<Policy> {
        let mut latest = self.latest.lock();
        if latest.is_outdated() {
            *latest = Latest::read(&self.store);
        }
        Arc::clone(&latest.policy)
    }
}

impl Latest {
    fn read(store: &Store) -> Self {
        let snapshot = store.snapshot();
        let mut policy = Policy::default();
        for plural in RESOURCES {
            for object in snapshot.list(&format!("{plural}.{}", Policy::GROUP), None) {
                policy.add(plural, object.value());
            }
        }
        Self {
            policy: Arc::new(policy),
            changes: store.watch_from(snapshot.revision()),
        }
    }

    /// Reads what was written since; also true when the log no longer holds all of it.
    fn is_outdated(&mut self) -> bool {
        loop {
            let Ok(changes) = self.changes.now() else {
                return true;
            };
            if changes.is_empty() {
                return false;
            }
            let mut keys = changes.iter().map(|change| &change.key);
            if keys.any(|key| key.resource().ends_with(Policy::GROUP)) {
                return true;
            }
        }
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::Policies;
    use crate::store::{Expected, Key, Store};

    #[test]
    fn the_policy_is_made_again_only_when_a_role_or_binding_changes() {
        let store = Store::new(100);
        let policies = Policies::new(store.clone());
        let first = policies.current();
        let pod = Key::new("pods", Some("web"), "a");
        store.put(pod, Expected::Absent, json!({})).unwrap();
        assert!(Arc::ptr_eq(&first, &policies.current()));
        let role = Key::new("clusterroles.rbac.authorization.k8s.io", None, "r");
        store
            .put(role, Expected::Absent, json!({"metadata": {"name": "r"}}))
            .unwrap();
        let second = policies.current();
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &policies.current()));
    }
}
